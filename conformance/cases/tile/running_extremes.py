# The greatest and the least element so far, of a row and of the rows of a tile one after another.
import warp as wp


@wp.kernel
def running_extremes(x: wp.array(dtype=float), greatest: wp.array(dtype=float), least: wp.array2d(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=12, offset=i * 12)
    wp.tile_store(greatest, wp.tile_scan_max_inclusive(t) * t, offset=i * 12)
    rows = wp.tile_reshape(t, shape=(3, 4))
    wp.tile_store(least, wp.tile_scan_min_inclusive(rows), offset=(i * 3, 0))
