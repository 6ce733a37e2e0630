# The same cells are stored, loaded back and stored again: only the last store has the seed.
import warp as wp


@wp.kernel
def stored_twice(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=5, offset=i * 5)
    wp.tile_store(out, t * t, offset=i * 5)
    again = wp.tile_load(out, shape=5, offset=i * 5)
    wp.tile_store(out, again * t + again, offset=i * 5)
