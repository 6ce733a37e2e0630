# Each factor of a dynamic product is a dynamic sum: non-linear in both loops.
import warp as wp


# domain: 0 <= n <= 5
# domain: 0 <= m <= 5
@wp.kernel
def product_of_sums(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    p = float(1.5)
    for j in range(n):
        s = float(1.0)
        for k in range(m):
            s += 0.125 * w[j, k]
        p = p * s
    out[i] = p * x[i]
