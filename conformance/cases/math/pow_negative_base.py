# pow with a constant exponent and a base of both signs: the derivative by the exponent must not be formed.
import warp as wp


@wp.kernel
def pow_negative_base(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.pow(x[i], 3.0) - 0.5 * wp.pow(x[i], 2.0) + wp.pow(x[i], 1.0)
