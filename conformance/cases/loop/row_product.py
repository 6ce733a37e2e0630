# A product over each thread's own row, with factors on both sides of 1 and a start that is not 1.
import warp as wp


# domain: 0 <= n <= 9
@wp.kernel
def row_product(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(0.75)
    for j in range(n):
        p = p * (1.0 + 0.5 * x[i, j])
    out[i] = p
