# A recurrence in f64 whose digits f32 could not hold.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def double_recurrence(x: wp.array(dtype=wp.float64), n: int, out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    s = x[i] + wp.float64(1000.0)
    for j in range(n):
        s = s * wp.float64(0.9999) + x[i] * wp.float64(0.001)
    out[i] = s - wp.float64(1000.0)
