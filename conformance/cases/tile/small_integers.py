# Tiles of integers of 8 and 16 bits: sums wrap around, and a conversion keeps the low bits.
import warp as wp


@wp.kernel
def small_integers(
    x: wp.array(dtype=wp.int8),
    y: wp.array(dtype=wp.uint8),
    z: wp.array(dtype=wp.int16),
    w: wp.array(dtype=wp.uint16),
    bytes: wp.array(dtype=wp.int8),
    sums: wp.array(dtype=wp.uint8),
    shorts: wp.array(dtype=wp.int16),
    least: wp.array(dtype=wp.uint16),
    wide: wp.array(dtype=int),
):
    i = wp.tid()
    a = wp.tile_load(x, shape=5, offset=i * 5)
    b = wp.tile_load(y, shape=5, offset=i * 5)
    c = wp.tile_load(z, shape=5, offset=i * 5)
    d = wp.tile_load(w, shape=5, offset=i * 5)
    wp.tile_store(bytes, a * a + wp.tile_astype(c, dtype=wp.int8), offset=i * 5)
    wp.tile_store(sums, wp.tile_sum(b), offset=i)
    wp.tile_store(shorts, c - wp.tile_astype(d, dtype=wp.int16), offset=i * 5)
    wp.tile_store(least, wp.tile_min(d), offset=i)
    wp.tile_store(wide, wp.tile_astype(d, dtype=int) + wp.tile_astype(b, dtype=int), offset=i * 5)
