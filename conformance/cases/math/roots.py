# Square and cube roots, a reciprocal root and the root of the cube of a negative number.
import warp as wp


# domain: 0.1 <= x <= 9
@wp.kernel
def roots(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sqrt(x[i]) * y[i] + 1.0 / wp.sqrt(x[i] + y[i] * y[i]) + wp.cbrt(-x[i]) + wp.cbrt(x[i] + 1.0)
