# Powers with constant and with active exponents over positive bases, and roots of them.
import warp as wp


# domain: 0.25 <= x <= 3
@wp.kernel
def powers_and_roots(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    p = wp.pow(x[i], 0.5 * y[i]) + x[i] ** 1.5
    out[i] = wp.sqrt(p) * wp.cbrt(x[i] + 0.5) - wp.pow(p, -0.5)
