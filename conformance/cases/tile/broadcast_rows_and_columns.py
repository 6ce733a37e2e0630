# A row and a column spread over a block: their gradients are sums along the other axis.
import warp as wp


@wp.kernel
def broadcast_rows_and_columns(
    row: wp.array(dtype=float), column: wp.array(dtype=float), out: wp.array2d(dtype=float)
):
    i = wp.tid()
    r = wp.tile_load(row, shape=4, offset=0)
    c = wp.tile_reshape(wp.tile_load(column, shape=3, offset=i * 3), shape=(3, 1))
    product = wp.tile_broadcast(r, shape=(3, 4)) * wp.tile_broadcast(c, shape=(3, 4))
    wp.tile_store(out, product, offset=(i * 3, 0))
