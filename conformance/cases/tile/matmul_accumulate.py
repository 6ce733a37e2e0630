# A product of matrices by blocks: the sum over the inner blocks, of which the last ones extend beyond the arrays.
import warp as wp


# domain: 0 <= n <= 3
@wp.kernel
def matmul_accumulate(
    a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), n: int, out: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    acc = wp.tile_zeros(shape=(4, 3), dtype=float)
    for k in range(n):
        x = wp.tile_load(a, shape=(4, 5), offset=(i * 4, k * 5))
        y = wp.tile_load(b, shape=(5, 3), offset=(k * 5, j * 3))
        wp.tile_matmul(x, y, acc)
    wp.tile_store(out, acc, offset=(i * 4, j * 3))
