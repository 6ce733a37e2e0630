# The norms of Warp: sums of magnitudes, Huber's on both sides of its bound, and the smooth one.
import warp as wp


@wp.kernel
def norms(
    x: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=float),
    direction: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.norm_l1(x[i]) * wp.norm_l2(x[i]) + wp.norm_huber(x[i], 1.5) - wp.norm_pseudo_huber(x[i], 0.5)
    direction[i] = wp.smooth_normalize(x[i], 0.75) + wp.lerp(x[i], wp.vec3(1.0, -1.0, 0.5), 0.25)
