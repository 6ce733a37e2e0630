# Tiles of vectors and matrices: loads, products with scalars and matrices, sums, atomics and single elements.
import warp as wp

SIZE = wp.constant(4)


@wp.func
def rotated(m: wp.mat33, v: wp.vec3):
    return m * v + wp.vec3(0.5, 0.0, v[0])


@wp.kernel
def vector_tiles(
    x: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.mat33),
    weights: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3),
    lengths: wp.array(dtype=float),
    total: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    v = wp.tile_load(x, shape=SIZE, offset=i * SIZE)
    turned = wp.tile_map(rotated, wp.tile_load(m, shape=SIZE, offset=i * SIZE), v)
    scaled = turned * wp.tile_load(weights, shape=SIZE, offset=i * SIZE) - v * 0.25
    scaled[1] = v[2] + wp.vec3(scaled[0][1], 1.0, 2.0)
    wp.tile_store(out, scaled, offset=i * SIZE)
    wp.tile_store(lengths, wp.tile_map(wp.length_sq, scaled), offset=i * SIZE)
    wp.tile_atomic_add(total, wp.tile_sum(-scaled), offset=0)
