# A product with only its positive elements kept: the adjoint of the others is zero, that of the factors is not.
import warp as wp


@wp.kernel
def relu_of_product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    x = wp.tile_load(a, shape=(3, 4), offset=(i * 3, 0))
    y = wp.tile_load(b, shape=(4, 2), offset=(0, 0))
    zero = wp.tile_zeros(shape=(3, 2), dtype=float)
    wp.tile_store(out, wp.tile_map(wp.max, wp.tile_matmul(x, y), zero), offset=(i * 3, 0))
