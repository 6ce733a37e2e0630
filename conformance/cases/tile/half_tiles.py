# Tiles of f16: every element is rounded to 11 bits after each operation, and so is each term of a sum.
import warp as wp

HALF = wp.constant(wp.float16(0.5))


@wp.func
def bent(x: wp.float16, y: wp.float16):
    return wp.sin(x) * y + x * HALF


@wp.kernel
def half_tiles(
    x: wp.array(dtype=wp.float16),
    y: wp.array(dtype=wp.float16),
    out: wp.array(dtype=wp.float16),
    sums: wp.array(dtype=wp.float16),
    greatest: wp.array(dtype=wp.float16),
    single: wp.array(dtype=float),
):
    i = wp.tid()
    t = wp.tile_load(x, shape=6, offset=i * 6)
    u = wp.tile_load(y, shape=6, offset=i * 6)
    v = wp.tile_map(bent, t, u) - HALF * t
    wp.tile_store(out, v, offset=i * 6)
    wp.tile_store(sums, wp.tile_sum(t * u), offset=i)
    wp.tile_store(greatest, wp.tile_max(t), offset=i)
    wp.tile_store(single, wp.tile_astype(v, dtype=float), offset=i * 6)
