# The inner bound is the outer index: the first inner loop never runs.
import warp as wp


# domain: 0 <= n <= 7
@wp.kernel
def triangular(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        p = x[i] * 0.5
        for k in range(j):
            p = p * 0.5 + w[j, k] * s
        s = 0.75 * s + p * 0.25
    out[i] = s
