# The same operations on vectors of f64.
import warp as wp


@wp.kernel
def double_vectors(
    a: wp.array(dtype=wp.vec3d),
    b: wp.array(dtype=wp.vec3d),
    out: wp.array(dtype=wp.vec3d),
):
    i = wp.tid()
    n = wp.normalize(a[i] + wp.vec3d(wp.float64(3.0), wp.float64(0.1), wp.float64(-0.2)))
    out[i] = wp.cross(n, b[i]) * wp.dot(n, b[i]) + wp.length(b[i]) * n
