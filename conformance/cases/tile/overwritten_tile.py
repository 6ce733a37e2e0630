# A tile overwritten in each iteration by its old value: the derivative needs each iteration's own tile.
import warp as wp


# domain: 0 <= n <= 5
@wp.kernel
def overwritten_tile(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=6, offset=i * 6)
    state = wp.tile_full(shape=6, value=0.75, dtype=float)
    for k in range(n):
        state = wp.tile_map(wp.sin, state * t)
        state += t
    wp.tile_store(out, state, offset=i * 6)
