# A tile filled with the value of one thread of the block.
import warp as wp


@wp.kernel
def value_of_one_thread(x: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    scale = x[i] * 2.0 + 1.0
    t = wp.tile_from_thread(shape=(3, 4), value=scale, thread_idx=0)
    wp.tile_store(out, t * t, offset=(3 * i, 0))
