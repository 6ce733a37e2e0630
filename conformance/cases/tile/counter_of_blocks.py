# The first thread of each block reserves places for all values that the block keeps.
import warp as wp


# launch: (1)
@wp.kernel
def counter_of_blocks(
    x: wp.array(dtype=float),
    counter: wp.array(dtype=int),
    kept: wp.array(dtype=float),
    greatest: wp.array(dtype=float),
):
    i = wp.tid()
    is_kept = 0
    if x[i] > 0.25:
        is_kept = 1
    flags = wp.tile(is_kept)
    offset = wp.untile(wp.tile_scan_exclusive(flags))
    first = int(0)
    if i % wp.block_dim() == 0:
        first = wp.atomic_add(counter, 0, wp.tile_sum(flags)[0])
    base = wp.tile_from_thread(shape=1, value=first, thread_idx=0)
    if is_kept == 1:
        kept[base[0] + offset] = 2.0
    wp.atomic_max(greatest, 0, x[i])
