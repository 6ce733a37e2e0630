# Products of tiles in mixed precision: the products of f16 elements are added up in f16, in f32, and in f64.
import warp as wp


@wp.kernel
def half_products(
    x: wp.array2d(dtype=wp.float16),
    y: wp.array2d(dtype=wp.float16),
    z: wp.array2d(dtype=float),
    in_half: wp.array2d(dtype=wp.float16),
    in_single: wp.array2d(dtype=float),
    in_double: wp.array2d(dtype=wp.float64),
    first: wp.array2d(dtype=wp.float16),
):
    i = wp.tid()
    a = wp.tile_load(x, shape=(3, 4), offset=(3 * i, 0))
    b = wp.tile_load(y, shape=(4, 2), offset=(4 * i, 0))
    c = wp.tile_load(z, shape=(3, 2), offset=(3 * i, 0))
    wp.tile_store(in_half, wp.tile_matmul(a, b, alpha=0.5), offset=(3 * i, 0))
    wp.tile_matmul(a, b, c, alpha=0.25)
    wp.tile_store(in_single, c, offset=(3 * i, 0))
    d = wp.tile_zeros(shape=(3, 3), dtype=wp.float64)
    wp.tile_matmul(c, wp.tile_transpose(c), d, precision="default")
    wp.tile_store(in_double, d, offset=(3 * i, 0))
    wp.tile_store(first, wp.tile_matmul(wp.tile_transpose(a), c), offset=(4 * i, 0))
