# Tiles of arrays with more dimensions: each block loads, stores and adds tiles of its own part of an array.
import warp as wp


@wp.kernel
def parts_of_array(
    x: wp.array3d(dtype=float),
    weights: wp.array2d(dtype=float),
    rows: wp.array2d(dtype=int),
    out: wp.array4d(dtype=float),
    total: wp.array2d(dtype=float),
):
    i = wp.tid()
    page = x[i]
    block = wp.tile_load(page, shape=(3, 4), offset=(0, 1))
    w = wp.tile_load(weights[i], shape=4)
    last = wp.tile_load(x[-1], shape=(3, 4))
    numbers = wp.tile_load(rows[i], shape=3)
    chosen = wp.tile_load_indexed(page, numbers, shape=(3, 4))
    scaled = block * wp.tile_broadcast(w, shape=(3, 4)) + last * chosen
    wp.tile_store(out[0, i], scaled)
    wp.tile_atomic_add(total[i % 2], wp.tile_sum(scaled, axis=0))
