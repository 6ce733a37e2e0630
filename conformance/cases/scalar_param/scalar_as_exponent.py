# A scalar as exponent of an active base, and a scalar as base of an active exponent.
import warp as wp


# domain: -1.5 <= p <= 2.5
# domain: 0.3 <= b <= 3
@wp.kernel
def scalar_as_exponent(x: wp.array(dtype=float), p: float, b: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.pow(x[i] * x[i] + 0.5, p) + wp.pow(b, x[i])
