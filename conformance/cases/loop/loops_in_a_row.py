# Three loops one after another: each starts from the result of the previous one.
import warp as wp


# domain: 0 <= n <= 7
@wp.kernel
def loops_in_a_row(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.75)
    for j in range(n):
        s = s * 0.5 + x[i, j]
    q = s
    for j in range(n):
        q = q * (0.5 + 0.25 * x[i, j])
    for j in range(4):
        s = s + q * x[i, j] * 0.5
    out[i] = s * q
