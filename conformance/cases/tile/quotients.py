# A tile divided by a number, and a number divided by a tile.
import warp as wp


# domain: 0.5 <= x <= 4
# domain: 0.5 <= scale <= 4
@wp.kernel
def quotients(x: wp.array(dtype=float), scale: float, out: wp.array(dtype=float), inverse: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=5, offset=i * 5)
    wp.tile_store(out, t / scale, offset=i * 5)
    wp.tile_store(inverse, scale / t + 1.0 / (t * t), offset=i * 5)
