# f32 and f64 in one expression by casts in both directions: each part has its own precision.
import warp as wp


@wp.kernel
def single_and_double(
    x: wp.array(dtype=float), y: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64), low: wp.array(dtype=float)
):
    i = wp.tid()
    d = wp.float64(x[i]) * y[i] + wp.float64(0.1)
    s = float(d) * x[i] + 0.1
    out[i] = d * wp.float64(s)
    low[i] = s * float(y[i])
