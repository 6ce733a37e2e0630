# A tile added to the diagonal of a square tile, whose other elements are kept.
import warp as wp


@wp.kernel
def diagonal(x: wp.array2d(dtype=float), d: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    square = wp.tile_load(x, shape=(4, 4), offset=(i * 4, 0))
    shift = wp.tile_load(d, shape=4, offset=i * 4)
    shifted = wp.tile_diag_add(square, shift * shift)
    wp.tile_store(out, shifted * square, offset=(i * 4, 0))
