# Literals in each float type: 0.1 is another number in each of them.
import warp as wp


@wp.kernel
def literals_of_each_type(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    half = wp.float64(wp.float16(0.1))
    single = wp.float64(float(0.1))
    double = wp.float64(0.1)
    out[i] = x[i] * (double - half) + x[i] * (double - single) * wp.float64(1000.0)
