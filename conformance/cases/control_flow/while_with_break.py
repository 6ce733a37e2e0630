# A while loop left by break, before or after the state has changed.
import warp as wp


# domain: 0 <= n <= 80
# domain: -1.505 <= x <= 3
# domain: -5 <= y <= 5
@wp.kernel
def while_with_break(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i]
    k = int(0)
    while k < n:
        if s * s > 16.0:
            break
        s = s * 0.5 + 0.45 * wp.sin(s) + x[i, k]
        k += 1
        if x[i, k - 1] < -1.5:
            break
    out[i] = s * s + float(k) * y[i]
