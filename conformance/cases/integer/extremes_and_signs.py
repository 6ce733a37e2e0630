# min, max, clamp, abs and sign of integers.
import warp as wp


# domain: -50 <= a <= 50
# domain: -50 <= b <= 50
@wp.kernel
def extremes_and_signs(a: wp.array(dtype=int), b: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = wp.min(a[i], b[i]) * 3 + wp.max(a[i] * 2, b[i]) - wp.clamp(a[i], -20, 20) * wp.abs(b[i]) + wp.sign(a[i])
