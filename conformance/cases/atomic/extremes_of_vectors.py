# Atomic minimums and maximums of float vectors and matrices: the winner of each component gets its cotangent, once.
import warp as wp


@wp.kernel
def extremes_of_vectors(
    x: wp.array(dtype=wp.vec3),
    low: wp.array(dtype=wp.vec3),
    high: wp.array(dtype=wp.vec3),
    spread: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    p = x[i]
    wp.atomic_min(low, 0, p * 0.5)
    wp.atomic_max(high, i % 2, wp.cw_mul(p, p))
    wp.atomic_max(spread, 0, wp.mat22(p[0], p[1], p[2], x[i / 2][0]))
