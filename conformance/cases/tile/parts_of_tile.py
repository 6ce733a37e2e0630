# Parts of a tile: read by a view, replaced by an assignment, at constant offsets and at one that depends on the block.
import warp as wp


@wp.kernel
def parts_of_tile(x: wp.array2d(dtype=float), y: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=(4, 3), offset=(i * 4, 0))
    row = wp.tile_view(t, offset=(i % 4,))
    corner = wp.tile_view(t, offset=(i % 3, 1), shape=(2, 2))
    column = wp.tile_squeeze(wp.tile_view(t, offset=(0, 2), shape=(4, 1)))
    result = wp.tile_load(x, shape=(4, 4), offset=(i * 4, 0))
    wp.tile_assign(result, corner * corner, offset=(1, i % 3))
    wp.tile_assign(result, wp.tile_reshape(column * wp.tile_load(y, shape=4), shape=(1, 4)))
    wp.tile_assign(result, wp.tile_reshape(row * 2.0, shape=(3, 1)), offset=(1, 3))
    wp.tile_store(out, result, offset=(i * 4, 0))
