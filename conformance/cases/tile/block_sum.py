# The sum of a block of 70 elements, more than a block has threads; stores each block's sum, squared.
import warp as wp


@wp.kernel
def block_sum(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=70, offset=i * 70)
    s = wp.tile_sum(t)[0]
    out[i] = s * s
