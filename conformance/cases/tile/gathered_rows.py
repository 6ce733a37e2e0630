# Rows at the indices in a tile: a negative index gives zeros, and a row may be read repeatedly.
import warp as wp


# domain: -2 <= rows < 6
@wp.kernel
def gathered_rows(
    x: wp.array2d(dtype=float), y: wp.array(dtype=float), rows: wp.array(dtype=int), out: wp.array2d(dtype=float)
):
    i = wp.tid()
    indices = wp.tile_load(rows, shape=4, offset=i * 4)
    t = wp.tile_load_indexed(x, indices, shape=(4, 3), offset=(1, 0))
    weights = wp.tile_load_indexed(y, indices=indices, shape=(4,))
    column = wp.tile_broadcast(wp.tile_reshape(weights, shape=(4, 1)), shape=(4, 3))
    wp.tile_store(out, t * t * column + wp.tile_load(x, shape=(4, 3), offset=(i * 4, 0)), offset=(i * 4, 0))
