# Tiles of three and four dimensions: loads past the end, sums along dimensions, and reshapes.
import warp as wp


@wp.kernel
def layers(
    x: wp.array3d(dtype=float),
    y: wp.array4d(dtype=float),
    out: wp.array3d(dtype=float),
    rows: wp.array2d(dtype=float),
    columns: wp.array2d(dtype=float),
    flat: wp.array(dtype=float),
):
    i = wp.tid()
    t = wp.tile_load(x, shape=(2, 2, 3), offset=(i, 0, 1))
    wp.tile_store(out, t + wp.tile_full(shape=(2, 2, 3), value=0.5, dtype=float), offset=(2 * i, 0, 0))
    wp.tile_store(rows, wp.tile_sum(t, axis=2), offset=(2 * i, 0))
    square = t * t
    wp.tile_store(columns, wp.tile_sum(square, axis=1), offset=(2 * i, 0))
    u = wp.tile_load(y, shape=(1, 2, 1, 2), offset=(i, 0, 0, 0))
    wp.tile_atomic_add(flat, wp.tile_reshape(u, shape=(4,)), offset=i)
    square[0, 0, 1] = t[1, 1, 2] + u[0, 1, 0, 0]
    wp.tile_atomic_add(flat, wp.tile_sum(square), offset=4 * i)
