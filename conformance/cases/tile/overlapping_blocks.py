# Blocks that overlap add to the same elements.
import warp as wp


@wp.kernel
def overlapping_blocks(x: wp.array(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=8, offset=i * 3)
    wp.tile_atomic_add(out, t * wp.tile_load(w, shape=8, offset=0), offset=i * 3)
