# Parts of tiles as slices, products with factors, and a transposed tile of vectors.
import warp as wp


@wp.kernel
def slices(
    a: wp.array2d(dtype=float),
    v: wp.array2d(dtype=wp.vec2),
    s: float,
    out: wp.array2d(dtype=float),
    row: wp.array(dtype=float),
    turned: wp.array2d(dtype=wp.vec2),
):
    i = wp.tid()
    t = wp.tile_load(a, shape=(4, 3), offset=(4 * i, 0))
    product = wp.tile_ones(shape=(2, 2), dtype=a.dtype) * 1.5
    wp.tile_matmul(t[1:3, :], t[:-1, 1:], product, alpha=0.5, beta=s)
    wp.tile_store(out, product, offset=(2 * i, 0))
    wp.tile_store(row, t[i % 4, 1:], offset=2 * i)
    wp.tile_store(turned, wp.tile_transpose(wp.tile_load(v, shape=(2, 3), offset=(2 * i, 0))), offset=(3 * i, 0))
