# 100,000 iterations: the reverse sweep cannot store the state of each. In f64, because the gradient is a sum of 100,000
# terms, which f32 cannot resolve. Each iteration changes the state a little and loses nothing, so that one iteration
# too many or too few is detected. One thread is enough: it costs the oracle as much as a thousand others.
import warp as wp


# launch: (1)
# domain: -1 <= x <= 1
@wp.kernel
def hundred_thousand_trips(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    s = x[i] + wp.float64(1.5)
    for j in range(100000):
        s = s + wp.float64(0.00001) * s * (wp.float64(2.0) * x[i] - s)
    out[i] = s * x[i]
