# 8 and 16 bits, signed and unsigned: every result wraps to its own type.
import warp as wp


# domain: -128 <= a <= 127
# domain: 0 <= b <= 255
# domain: -32768 <= c <= 32767
# domain: 0 <= d <= 65535
@wp.kernel
def narrow_types(
    a: wp.array(dtype=wp.int8),
    b: wp.array(dtype=wp.uint8),
    c: wp.array(dtype=wp.int16),
    d: wp.array(dtype=wp.uint16),
    small: wp.array(dtype=wp.int8),
    byte: wp.array(dtype=wp.uint8),
    half: wp.array(dtype=wp.int16),
    word: wp.array(dtype=wp.uint16),
):
    i = wp.tid()
    small[i] = a[i] * a[i] + wp.int8(100)
    byte[i] = (b[i] + b[i]) ^ wp.uint8(85)
    half[i] = c[i] * wp.int16(3) - wp.int16(a[i])
    word[i] = (d[i] * d[i]) >> wp.uint16(4)
