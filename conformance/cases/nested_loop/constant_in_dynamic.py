# Unrolled trips inside a loop of run-time length.
import warp as wp


# domain: 0 <= n <= 8
@wp.kernel
def constant_in_dynamic(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        for k in range(3):
            s = s * 0.75 + 0.25 * x[i, k] * float(k + 1)
        s = s * x[i, j % 3] * 0.5 + 1.0
    out[i] = s
