# All threads of a block take the same branch: a tile is loaded or made of ones.
import warp as wp


# domain: 0 <= n <= 4
@wp.kernel
def chosen_by_scalar(x: wp.array(dtype=float), n: int, scale: float, out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_ones(shape=5, dtype=float)
    if i < n:
        t = wp.tile_load(x, shape=5, offset=i * 5)
        t = -t * scale
    else:
        t = scale * t
    wp.tile_store(out, t * t, offset=i * 5)
