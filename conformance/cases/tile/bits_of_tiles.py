# Bitwise operators on tiles of integers.
import warp as wp


@wp.kernel
def bits_of_tiles(x: wp.array(dtype=int), y: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    a = wp.tile_load(x, shape=6, offset=i * 6)
    b = wp.tile_load(y, shape=6, offset=i * 6)
    wp.tile_store(out, (a & b) + ((a | wp.tile_arange(6, dtype=int)) ^ b), offset=i * 6)
