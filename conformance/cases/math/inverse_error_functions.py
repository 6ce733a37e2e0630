# The inverses of erf and erfc inside their domains, and at their poles and outside.
import warp as wp


# domain: -0.9 <= x <= 0.9
# domain: 0.05 <= y <= 1.95
@wp.kernel
def inverse_error_functions(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
    poles: wp.array(dtype=wp.vec4),
):
    i = wp.tid()
    out[i] = wp.erfinv(x[i]) * y[i] + 3.0 * wp.erfcinv(y[i])
    one = float(1.0)
    poles[i] = wp.vec4(wp.erfinv(one), wp.erfinv(one - 2.0), wp.erfcinv(one - 1.0), wp.erfinv(one + 1.0))
