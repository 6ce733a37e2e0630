# The least and the greatest element of a row by min and max, and their difference.
import warp as wp


# domain: 1 <= n <= 9
@wp.kernel
def spread_of_row(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    low = x[i, 0]
    high = x[i, 0] * 0.5
    for j in range(1, n):
        low = wp.min(low, x[i, j])
        high = wp.max(high, x[i, j])
    out[i] = (high - low) * high
