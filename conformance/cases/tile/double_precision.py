# A tile converted to double precision and back.
import warp as wp


@wp.kernel
def double_precision(x: wp.array(dtype=float), wide: wp.array(dtype=wp.float64), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_astype(wp.tile_load(x, shape=5, offset=i * 5), dtype=wp.float64)
    square = t * t * wp.float64(1.5)
    wp.tile_store(wide, square, offset=i * 5)
    wp.tile_store(out, wp.tile_astype(square, dtype=float), offset=i * 5)
