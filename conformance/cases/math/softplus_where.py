# where evaluates both operands: the unselected one overflows for large x and must not turn the gradient into NaN.
import warp as wp


# domain: -5 <= x <= 120
@wp.kernel
def softplus_where(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.where(x[i] > 20.0, x[i], wp.log(1.0 + wp.exp(x[i]))) + 0.25 * x[i]
