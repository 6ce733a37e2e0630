# Softmax of a block: the greatest element is subtracted, which changes no gradient.
import warp as wp


@wp.kernel
def softmax_tile(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=6, offset=i * 6)
    top = wp.tile_broadcast(wp.tile_max(t), shape=(6,))
    e = wp.tile_map(wp.exp, t - top)
    total = wp.tile_broadcast(wp.tile_sum(e), shape=(6,))
    wp.tile_store(out, e / total, offset=i * 6)
