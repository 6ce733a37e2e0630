# The remainder of floats has a gradient for both operands, and the floored quotient for neither.
import warp as wp


# domain: -6 <= x <= 6
# domain: 0.75 <= y <= 2.5
@wp.kernel
def float_remainder(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    r = x[i] % y[i]
    out[i] = r * r + 0.5 * r + x[i] // y[i]
