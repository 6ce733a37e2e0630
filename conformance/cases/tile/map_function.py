# A @wp.func whose branches and loop differ between the elements, with one argument shared by all.
import warp as wp


@wp.func
def bend(x: float, y: float, w: float):
    if x > y:
        return w * x * y
    p = w
    for k in range(3):
        p = p * x + y
    return p


@wp.kernel
def map_function(a: wp.array(dtype=float), b: wp.array(dtype=float), w: float, out: wp.array(dtype=float)):
    i = wp.tid()
    x = wp.tile_load(a, shape=8, offset=i * 8)
    y = wp.tile_load(b, shape=8, offset=i * 8)
    wp.tile_store(out, wp.tile_map(bend, x, y, w), offset=i * 8)
