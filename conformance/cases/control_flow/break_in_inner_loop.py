# break leaves the inner of two run-time loops, at another trip in each thread.
import warp as wp


# domain: 0 <= n <= 5
# domain: 0 <= m <= 40
@wp.kernel
def break_in_inner_loop(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i] * x[i] + 0.25
    for j in range(n):
        t = float(1.0)
        for k in range(m):
            t = t * 0.75 + 0.5 * w[j, k] * x[i]
            if t > 1.25:
                break
        s = s * 0.5 + t
    out[i] = s
