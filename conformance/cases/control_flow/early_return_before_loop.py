# Some threads return before the loop; the others must still get its gradient.
import warp as wp


# domain: 0 <= n <= 9
@wp.kernel
def early_return_before_loop(
    x: wp.array(dtype=float),
    w: wp.array2d(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    if x[i] < -0.5:
        out[i] = 3.0 * x[i]
        return
    s = x[i] + 0.25
    for j in range(n):
        s = s * 0.75 + w[i, j] * x[i]
    out[i] = s
