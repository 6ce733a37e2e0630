# Casts between widths and signs, which keep the low bits, and from floats, which cut off.
import warp as wp


# domain: -2147483648 <= a <= 2147483647
# domain: -100000 <= x <= 100000
@wp.kernel
def conversions(
    a: wp.array(dtype=int),
    x: wp.array(dtype=float),
    narrow: wp.array(dtype=wp.int8),
    wide: wp.array(dtype=wp.int64),
    seventh: wp.array(dtype=wp.uint32),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    narrow[i] = wp.int8(a[i])
    wide[i] = wp.int64(a[i]) * wp.int64(a[i]) + wp.int64(int(x[i]))
    seventh[i] = wp.uint32(a[i]) / wp.uint32(7)
    out[i] = x[i] * float(wp.uint8(a[i])) + float(int(x[i]) % 10)
