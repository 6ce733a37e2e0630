# The same functions in f64, where single-precision ones in the emitted code would show.
import warp as wp


# domain: 0.2 <= x <= 4
@wp.kernel
def double_functions(
    x: wp.array(dtype=wp.float64),
    y: wp.array(dtype=wp.float64),
    out: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    a = wp.exp(wp.sin(y[i])) * wp.log(x[i]) + wp.pow(x[i], y[i])
    out[i] = a + wp.atan2(y[i], x[i]) * wp.tanh(y[i]) - wp.sqrt(x[i]) * wp.erf(y[i])
