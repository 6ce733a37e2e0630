# A divisor near 1e20 that is used again: its square overflows f32, so the derivative must not be formed from it.
import warp as wp


# domain: 1e19 <= a <= 1e20
# domain: 5e19 <= b <= 1e20
@wp.kernel
def quotient_huge_divisor(
    a: wp.array(dtype=float),
    b: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    q = a[i] / b[i]
    out[i] = q * 3.0 + b[i] * 1.0e-20
