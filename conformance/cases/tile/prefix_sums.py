# Running sums of a block, with and without the element itself.
import warp as wp


@wp.kernel
def prefix_sums(x: wp.array(dtype=float), inclusive: wp.array(dtype=float), exclusive: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=10, offset=i * 10)
    wp.tile_store(inclusive, wp.tile_scan_inclusive(t * t), offset=i * 10)
    wp.tile_store(exclusive, wp.tile_scan_exclusive(wp.tile_map(wp.sin, t)), offset=i * 10)
