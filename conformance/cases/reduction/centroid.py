# The centroid of points in a row, and the sum of squared distances from it.
import warp as wp


@wp.kernel
def centroid(p: wp.array2d(dtype=wp.vec3), centre: wp.array(dtype=wp.vec3), moment: wp.array(dtype=float)):
    i = wp.tid()
    n = p.shape[1]
    c = wp.vec3(0.0, 0.0, 0.0)
    for j in range(n):
        c += p[i, j]
    c = c / float(n)
    m = float(0.0)
    for j in range(n):
        m += wp.length_sq(p[i, j] - c)
    centre[i] = c
    moment[i] = m
