# Sums, products and negation of unsigned numbers that leave the range of 32 bits come back at its other end.
import warp as wp


# domain: 0 <= a <= 4294967295
# domain: 0 <= b <= 4294967295
@wp.kernel
def wrap_around(
    a: wp.array(dtype=wp.uint32),
    b: wp.array(dtype=wp.uint32),
    out: wp.array(dtype=wp.uint32),
    sign: wp.array(dtype=wp.uint32),
):
    i = wp.tid()
    out[i] = a[i] * b[i] + a[i]
    sign[i] = wp.uint32(0) - (a[i] - b[i] * wp.uint32(3))
