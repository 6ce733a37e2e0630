# A matrix transposed block by block, then scaled by the original one.
import warp as wp


@wp.kernel
def transpose_tile(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    t = wp.tile_load(a, shape=(4, 5), offset=(i * 4, j * 5))
    wp.tile_store(out, wp.tile_transpose(t * t), offset=(j * 5, i * 4))
