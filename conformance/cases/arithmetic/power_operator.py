# ** with a constant exponent on a negative base, with a fractional one on a positive base, and with an active one.
import warp as wp


# domain: -1.5 <= b <= 2
@wp.kernel
def power_operator(
    x: wp.array(dtype=float), b: wp.array(dtype=float), cube: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    cube[i] = x[i] ** 3.0 - 2.0 * x[i] ** 2.0
    base = x[i] * x[i] + 0.5
    out[i] = base**1.5 + base ** b[i]
