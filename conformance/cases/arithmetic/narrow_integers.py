# Arithmetic in 8 and 16 bits, with and without sign, next to a float that depends on it.
import warp as wp


# domain: -9 <= a <= 9
# domain: 0 <= b <= 9
# domain: -99 <= c <= 99
# domain: 1 <= d <= 99
@wp.kernel
def narrow_integers(
    a: wp.array(dtype=wp.int8),
    b: wp.array(dtype=wp.uint8),
    c: wp.array(dtype=wp.int16),
    d: wp.array(dtype=wp.uint16),
    x: wp.array(dtype=float),
    small: wp.array(dtype=wp.int8),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    small[i] = a[i] * wp.int8(3) - wp.int8(b[i])
    wide = int(c[i]) * int(a[i]) + int(d[i] % wp.uint16(7))
    out[i] = x[i] * float(wide) * 0.01 + float(b[i])
