# Columns stored at the indices in a tile, and rows added at indices that may be equal. The offset of the columns is -1,
# so that index 0, which the tile contains past the end of the array, is ignored.
import warp as wp


# domain: columns is a permutation
# domain: -1 <= rows < 5
@wp.kernel
def scattered_columns(
    x: wp.array2d(dtype=float),
    columns: wp.array(dtype=int),
    rows: wp.array(dtype=int),
    out: wp.array2d(dtype=float),
    sums: wp.array2d(dtype=float),
):
    i = wp.tid()
    t = wp.tile_load(x, shape=(2, 5), offset=(i * 2, 0))
    wp.tile_store_indexed(out, wp.tile_load(columns, shape=5), t * t, offset=(i * 2, -1), axis=1)
    wp.tile_atomic_add_indexed(sums, wp.tile_load(rows, shape=2, offset=i * 2), t, axis=0)
