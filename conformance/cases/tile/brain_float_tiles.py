# Tiles of bf16: elements of 8 bits of precision, sums, running sums and conversions.
import warp as wp


@wp.kernel
def brain_float_tiles(
    x: wp.array2d(dtype=wp.bfloat16),
    y: wp.array(dtype=wp.bfloat16),
    out: wp.array2d(dtype=wp.bfloat16),
    rows: wp.array(dtype=wp.bfloat16),
    total: wp.array(dtype=wp.bfloat16),
):
    i = wp.tid()
    t = wp.tile_load(x, shape=(2, 3), offset=(2 * i, 0))
    u = wp.tile_broadcast(wp.tile_load(y, shape=3, offset=3 * i), shape=(2, 3))
    v = t * u - wp.tile_map(wp.cos, t)
    wp.tile_store(out, v, offset=(2 * i, 0))
    wp.tile_store(rows, wp.tile_sum(v, axis=1), offset=2 * i)
    wp.tile_atomic_add(total, wp.tile_sum(u * u), offset=0)
