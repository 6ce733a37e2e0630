# A deep expression in f64: its error must be that of f64, not of a detour through f32.
import warp as wp


@wp.kernel
def double_expression(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    a = wp.exp(x[i] * wp.float64(0.3)) - wp.log(y[i] * y[i] + wp.float64(1.7))
    b = wp.sin(a * y[i]) + wp.sqrt(a * a + wp.float64(0.2))
    out[i] = a * b / (wp.float64(1.1) + b * b) + wp.erf(x[i] - b)
