# Two inner loops in one outer loop: the second reads what the first made.
import warp as wp


# domain: 0 <= n <= 3
# domain: 0 <= m <= 70
@wp.kernel
def two_inner_loops(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.75)
    for j in range(n):
        u = x[i]
        for k in range(m):
            u = u * 0.5 + w[j, k]
        v = u * s
        for k in range(m - 1, -1, -1):
            v = wp.tanh(v + 0.5 * u * w[j, k])
        s = s * 0.5 + v
    out[i] = s
