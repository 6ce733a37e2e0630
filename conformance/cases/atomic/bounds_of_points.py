# The box around the cells of all points, by atomic minimums and maximums of vectors, and a sum of vectors and matrices.
import warp as wp


# domain: -50 <= x <= 50
@wp.kernel
def bounds_of_points(
    x: wp.array(dtype=wp.vec3),
    low: wp.array(dtype=wp.vec3i),
    high: wp.array(dtype=wp.vec3i),
    centre: wp.array(dtype=wp.vec3),
    spread: wp.array(dtype=wp.mat33),
):
    i = wp.tid()
    p = x[i]
    cell = wp.vec3i(int(wp.floor(p[0])), int(wp.floor(p[1])), int(wp.floor(p[2])))
    wp.atomic_min(low, 0, cell)
    wp.atomic_max(high, i % 2, cell + wp.vec3i(1))
    wp.atomic_add(centre, 0, p * 0.125)
    wp.atomic_sub(spread, i % 2, wp.outer(p, p) * 0.01)
