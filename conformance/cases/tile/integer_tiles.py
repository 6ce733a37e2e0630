# Integers: sums wrap around, and a histogram of blocks is added up.
import warp as wp


@wp.kernel
def integer_tiles(x: wp.array(dtype=int), out: wp.array(dtype=int), total: wp.array(dtype=int)):
    i = wp.tid()
    t = wp.tile_load(x, shape=6, offset=i * 6)
    wp.tile_store(out, t * t - wp.tile_scan_inclusive(t), offset=i * 6)
    wp.tile_atomic_add(total, wp.tile_sum(t), offset=0)
