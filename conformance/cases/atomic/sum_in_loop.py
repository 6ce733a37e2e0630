# Each thread adds many products to elements chosen in each iteration.
import warp as wp


# domain: 0 <= n <= 9
@wp.kernel
def sum_in_loop(x: wp.array2d(dtype=float), w: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = w[i]
    for j in range(n):
        s = 0.5 * s * x[i, j] + w[i]
        wp.atomic_add(out, (i + j) % 4, s)
