# Comparisons of unsigned numbers whose top bit is set, and a difference that wraps below zero.
import warp as wp


# domain: 0 <= a <= 4294967295
# domain: 0 <= b <= 4294967295
@wp.kernel
def unsigned_comparisons(
    a: wp.array(dtype=wp.uint32), b: wp.array(dtype=wp.uint32), x: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    t = x[i]
    if a[i] > b[i]:
        t = t * 2.0
    if a[i] - b[i] < wp.uint32(1000000000):
        t = t * t - 0.5
    out[i] = t + float(wp.min(a[i], b[i]) % wp.uint32(5))
