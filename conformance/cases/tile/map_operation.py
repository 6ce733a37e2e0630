# An operation of one and of two operands on each element.
import warp as wp


@wp.kernel
def map_operation(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.tile_load(x, shape=9, offset=i * 9)
    b = wp.tile_load(y, shape=9, offset=i * 9)
    wp.tile_store(out, wp.tile_map(wp.sin, a) * wp.tile_map(wp.max, a, b), offset=i * 9)
