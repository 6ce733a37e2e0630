# Sums along each axis, by tile_sum and by tile_reduce.
import warp as wp


@wp.kernel
def sums_along_axes(
    a: wp.array2d(dtype=float), columns: wp.array(dtype=float), rows: wp.array(dtype=float), all: wp.array(dtype=float)
):
    i = wp.tid()
    t = wp.tile_load(a, shape=(4, 6), offset=(i * 4, 0))
    wp.tile_store(rows, wp.tile_sum(t * t, axis=1), offset=i * 4)
    wp.tile_atomic_add(columns, wp.tile_sum(t, axis=0), offset=0)
    wp.tile_atomic_add(all, wp.tile_reduce(wp.add, wp.tile_map(wp.tanh, t)), offset=0)
