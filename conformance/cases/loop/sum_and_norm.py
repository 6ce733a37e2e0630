# A sum and a sum of squares in one loop, divided after it.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def sum_and_norm(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.5)
    q = float(1.0)
    for j in range(n):
        s += x[i, j]
        q += x[i, j] * x[i, j]
    out[i] = s / wp.sqrt(q) + 0.125 * s * q
