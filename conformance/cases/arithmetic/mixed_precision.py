# f32 and f64 in one kernel, cast in both directions: the product needs f64, the result is rounded to f32.
import warp as wp


@wp.kernel
def mixed_precision(
    x: wp.array(dtype=float),
    w: wp.array(dtype=wp.float64),
    out: wp.array(dtype=float),
    fine: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    p = wp.float64(x[i]) * w[i] + wp.float64(0.1)
    fine[i] = p * p - wp.float64(x[i])
    out[i] = float(p) * x[i] + 0.5
