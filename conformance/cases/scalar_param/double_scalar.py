# A scalar in f64 beside arrays in f32, and one in f32 beside an array in f64.
import warp as wp


@wp.kernel
def double_scalar(
    x: wp.array(dtype=float), a: wp.float64, b: float, out: wp.array(dtype=float), fine: wp.array(dtype=wp.float64)
):
    i = wp.tid()
    fine[i] = wp.float64(x[i]) * a * a + wp.float64(b)
    out[i] = float(a) * x[i] - b * x[i]
