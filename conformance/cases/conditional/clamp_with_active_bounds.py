# clamp with all three operands active: the gradient goes to whichever the result is.
import warp as wp


# domain: -2 <= low <= -0.25
# domain: 0.25 <= high <= 2
@wp.kernel
def clamp_with_active_bounds(
    x: wp.array(dtype=float), low: wp.array(dtype=float), high: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    out[i] = wp.clamp(2.0 * x[i], low[i], high[i]) * 3.0 + x[i]
