# The greatest element of a row and a sum weighted by the maximum so far.
import warp as wp


# domain: 1 <= n <= 9
@wp.kernel
def running_maximum(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    m = x[i, 0]
    s = float(0.5)
    for j in range(n):
        m = wp.max(m, x[i, j])
        s += m * x[i, j]
    out[i] = s * m
