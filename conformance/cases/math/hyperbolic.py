# sinh, cosh and tanh, whose derivatives are one another.
import warp as wp


@wp.kernel
def hyperbolic(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sinh(x[i]) - 0.5 * wp.cosh(y[i]) * x[i] + wp.tanh(x[i] + y[i])
