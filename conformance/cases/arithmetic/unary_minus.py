# Minus of a variable, of a product, of a sum and of another minus.
import warp as wp


@wp.kernel
def unary_minus(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = -x[i]
    b = -(x[i] * y[i])
    c = -(a + b)
    out[i] = a * y[i] - -c * 0.5 + (-y[i]) * b
