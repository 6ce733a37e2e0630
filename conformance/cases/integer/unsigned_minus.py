# The negative of an unsigned number wraps around, in 32 bits and in 8.
import warp as wp


# domain: 0 <= a <= 4294967295
# domain: 0 <= b <= 255
@wp.kernel
def unsigned_minus(
    a: wp.array(dtype=wp.uint32),
    b: wp.array(dtype=wp.uint8),
    out: wp.array(dtype=wp.uint32),
    small: wp.array(dtype=wp.uint8),
):
    i = wp.tid()
    out[i] = -a[i]
    small[i] = -b[i]
