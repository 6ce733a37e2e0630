# Sums, products and negation that leave the range of 32 bits come back at its other end.
import warp as wp


# domain: -2147483648 <= a <= 2147483647
# domain: -2147483648 <= b <= 2147483647
@wp.kernel
def wrap_around(a: wp.array(dtype=int), b: wp.array(dtype=int), out: wp.array(dtype=int), sign: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = a[i] * b[i] + a[i]
    sign[i] = -(a[i] - b[i] * 3)
