# pow with both operands active, on both sides of an exponent of 0 and a base of 1.
import warp as wp


# domain: 0.2 <= a <= 3
# domain: -2 <= b <= 3
@wp.kernel
def pow_active_exponent(
    a: wp.array(dtype=float),
    b: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    p = wp.pow(a[i], b[i])
    out[i] = p * b[i] + a[i]
