# Prefix sums and prefix products of a row in one pass, each written as it grows.
import warp as wp


@wp.kernel
def prefix_products(x: wp.array2d(dtype=float), sums: wp.array2d(dtype=float), products: wp.array2d(dtype=float)):
    i = wp.tid()
    s = float(0.25)
    p = float(1.5)
    for j in range(x.shape[1]):
        s += x[i, j]
        p = p * (0.75 + 0.25 * x[i, j])
        sums[i, j] = s
        products[i, j] = p * s
