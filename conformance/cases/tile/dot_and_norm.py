# A block divided by its norm, times the dot product with another.
import warp as wp


@wp.kernel
def dot_and_norm(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.tile_load(x, shape=6, offset=i * 6)
    b = wp.tile_load(y, shape=6, offset=i * 6)
    norm = wp.sqrt(wp.tile_dot(a, a)[0] + 0.01)
    scale = wp.tile_dot(a, b)[0] / norm
    wp.tile_store(out, a * scale, offset=i * 6)
