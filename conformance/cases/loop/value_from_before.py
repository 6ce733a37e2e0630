# A value from before the loop is used in it and after it, times the loop's result.
import warp as wp


# domain: 0 <= n <= 8
@wp.kernel
def value_from_before(
    x: wp.array(dtype=float),
    y: wp.array2d(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    before = x[i] * x[i] + 0.5
    s = before
    for j in range(n):
        s = 0.5 * s + before * y[i, j]
    out[i] = before * s - 2.0 * x[i]
