# Quotients of hyperbolic functions that cancel when they are large.
import warp as wp


# domain: -1.5 <= x <= 1.5
@wp.kernel
def hyperbolic_quotients(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = wp.sinh(x[i]) / wp.cosh(x[i] + 0.25 * y[i])
    out[i] = wp.tanh(s + y[i]) * wp.cosh(0.5 * y[i]) - s * s
