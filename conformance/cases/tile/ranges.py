# Ranges of constants, ascending and descending, as weights and as integers.
import warp as wp

COUNT = wp.constant(7)


@wp.kernel
def ranges(x: wp.array(dtype=float), out: wp.array(dtype=float), numbers: wp.array(dtype=int)):
    i = wp.tid()
    t = wp.tile_load(x, shape=7, offset=i * 7)
    weights = wp.tile_arange(0.5, 2.2, 0.25)
    falling = wp.tile_arange(3, -4, -1, dtype=float)
    wp.tile_store(out, weights * t * t + falling * t - wp.tile_arange(COUNT), offset=i * 7)
    wp.tile_store(numbers, wp.tile_arange(10, 30, 3, dtype=int), offset=i * 7)
