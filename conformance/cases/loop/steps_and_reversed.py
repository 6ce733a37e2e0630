# Steps of three, minus one and minus two: each visits its own columns, in its own order.
import warp as wp


# domain: 1 <= n <= 70
@wp.kernel
def steps_and_reversed(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.5)
    for j in range(0, n, 3):
        s = s * 0.5 + x[i, j]
    for j in range(n - 1, -1, -1):
        s = s * x[i, j] * 0.5 + 1.0
    for j in range(8, 0, -2):
        s = s + 0.25 * x[i, j] * float(j + 1)
    out[i] = s
