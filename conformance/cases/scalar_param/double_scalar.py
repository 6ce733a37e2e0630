# An f64 scalar with f32 arrays, and an f32 scalar with an f64 array.
import warp as wp


@wp.kernel
def double_scalar(
    x: wp.array(dtype=float), a: wp.float64, b: float, out: wp.array(dtype=float), fine: wp.array(dtype=wp.float64)
):
    i = wp.tid()
    fine[i] = wp.float64(x[i]) * a * a + wp.float64(b)
    out[i] = float(a) * x[i] - b * x[i]
