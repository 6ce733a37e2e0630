# The same elements are stored, loaded and stored again: only the last store gets the cotangent.
import warp as wp


@wp.kernel
def stored_twice(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=5, offset=i * 5)
    wp.tile_store(out, t * t, offset=i * 5)
    again = wp.tile_load(out, shape=5, offset=i * 5)
    wp.tile_store(out, again * t + again, offset=i * 5)
