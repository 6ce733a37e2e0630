# The right side of `and` computes something active, and is only evaluated where the left side holds.
import warp as wp


@wp.kernel
def and_with_active_right_side(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = 0.5 * y[i]
    if x[i] > 0.1 and wp.sqrt(x[i]) * y[i] > 0.2:
        t = wp.sqrt(x[i]) * y[i]
    out[i] = t * t + x[i]
