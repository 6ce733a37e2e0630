# continue skips the rest of the body under two conditions, one of them on the state.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def skip_by_continue(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i] + 0.5
    for j in range(n):
        if x[i, j] < -0.75:
            continue
        s = s * 0.5 + x[i, j]
        if s < 0.25:
            continue
        s = s - 0.125 * y[i] * s
    out[i] = s * y[i]
