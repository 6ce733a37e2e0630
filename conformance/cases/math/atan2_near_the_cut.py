# Small y of both signs on the negative x axis: the angle jumps by 2 pi, its derivative does not.
import warp as wp


# domain: -0.01 <= y <= 0.01
@wp.kernel
def atan2_near_the_cut(
    y: wp.array(dtype=float),
    x: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = wp.atan2(y[i], -1.0 - x[i] * x[i]) + x[i]
