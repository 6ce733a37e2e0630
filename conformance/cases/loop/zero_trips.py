# Loops that never run, by constant and by run-time bounds: the gradient passes them unchanged.
import warp as wp


# domain: -3 <= n <= 0
@wp.kernel
def zero_trips(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i] * 2.0
    for j in range(n):
        s = s * x[i]
    for j in range(4, 4):
        s = s * 5.0
    for j in range(1, 5, -1):
        s = s - 7.0
    out[i] = s * s
