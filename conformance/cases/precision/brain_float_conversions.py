# Casts between bfloat16, f16, f32, f64 and integers.
import warp as wp


@wp.kernel
def brain_float_conversions(
    x: wp.array(dtype=wp.bfloat16),
    y: wp.array(dtype=float),
    a: wp.array(dtype=wp.float16),
    b: wp.array(dtype=wp.float64),
    k: wp.array(dtype=int),
):
    i = wp.tid()
    a[i] = wp.float16(x[i]) * wp.float16(y[i])
    b[i] = wp.float64(x[i]) * wp.float64(y[i]) + wp.float64(wp.bfloat16(y[i]))
    k[i] = int(y[i] * 10.0) + int(wp.float16(3.5))
