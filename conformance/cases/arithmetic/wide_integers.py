# Arithmetic in 64 bits and in unsigned 32 bits: a product that needs more than 32.
import warp as wp


# domain: -100000 <= a <= 100000
# domain: 1 <= b <= 100000
# domain: 0 <= c <= 1000
@wp.kernel
def wide_integers(
    a: wp.array(dtype=wp.int64),
    b: wp.array(dtype=wp.uint64),
    c: wp.array(dtype=wp.uint32),
    product: wp.array(dtype=wp.int64),
    rest: wp.array(dtype=wp.uint64),
):
    i = wp.tid()
    product[i] = a[i] * wp.int64(b[i]) + wp.int64(c[i])
    rest[i] = (b[i] * wp.uint64(1000000007) + wp.uint64(c[i])) % wp.uint64(65537)
