# The inner loop starts at the outer index, as in a sum over pairs.
import warp as wp


# domain: 0 <= n <= 6
@wp.kernel
def upper_triangle(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.25)
    for j in range(n):
        for k in range(j, n + 1):
            d = x[j] - x[k]
            s += y[i] * wp.sqrt(d * d + 0.25)
    out[i] = s
