# One element of a block, at an index from the data, scales the whole block; another one is replaced.
import warp as wp


# domain: 0 <= place < 3
@wp.kernel
def element_of_tile(x: wp.array2d(dtype=float), place: wp.array(dtype=int), out: wp.array2d(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=(3, 4), offset=(i * 3, 0))
    v = wp.tile_extract(t, place[i], 2)
    t[1, 1] = v * t[2, 3]
    wp.tile_store(out, t * v, offset=(i * 3, 0))
