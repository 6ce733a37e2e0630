# The launch is larger than n: the threads beyond n return at once and access nothing.
import warp as wp


# launch: (70)
# domain: 1 <= n <= 61
@wp.kernel
def threads_beyond_n(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    if i >= n:
        return
    out[i] = x[i] * y[i] + x[0]
