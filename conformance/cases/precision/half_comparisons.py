# Comparisons, selections and extremes of f16.
import warp as wp


@wp.kernel
def half_comparisons(x: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    a = wp.max(x[i], y[i] * wp.float16(0.5))
    b = wp.where(x[i] > wp.float16(0.25), a * a, y[i])
    if b < wp.float16(0.0):
        b = -b * x[i]
    out[i] = b + wp.min(a, x[i])
