# The dot product of two rows a thread, from a start that is not zero.
import warp as wp


# domain: 0 <= n <= 11
@wp.kernel
def dot_product_rows(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.125)
    for j in range(n):
        s += x[i, j] * y[i, j]
    out[i] = s
