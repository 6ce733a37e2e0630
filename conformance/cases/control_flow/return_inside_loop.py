# A return from the middle of a loop, early or late: the store after the loop does not happen for these threads.
import warp as wp


# domain: 0 <= n <= 80
# domain: -1 <= x <= 1
@wp.kernel
def return_inside_loop(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i]
    for j in range(n):
        s = s + x[i, j] * (y[i] + 0.25 * s)
        if s > 1.5 or j > 68:
            out[i] = s * x[i, j]
            return
        s = s * 0.875
    out[i] = s - 2.0 * y[i]
