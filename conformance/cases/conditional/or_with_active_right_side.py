# The right side of `or` divides by a value that the left side has found not to be small.
import warp as wp


@wp.kernel
def or_with_active_right_side(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] + y[i]
    if wp.abs(x[i]) < 0.25 or y[i] / x[i] > 0.75:
        t = x[i] * y[i] - 1.0
    out[i] = t * x[i]
