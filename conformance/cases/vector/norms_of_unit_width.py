# The norms and the smooth direction without a width: 1 stands for it, on both sides of the Huber norm's bend.
import warp as wp


@wp.kernel
def norms_of_unit_width(
    x: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=float),
    direction: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.norm_huber(x[i] * 0.75) - s[i] * wp.norm_pseudo_huber(x[i])
    direction[i] = wp.smooth_normalize(x[i] * s[i]) * 2.0
