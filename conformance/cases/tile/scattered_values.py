# Each thread of a block adds to elements of a tile; blocks share the work by their size.
import warp as wp


# domain: 0 <= bins <= 1
@wp.kernel
def scattered_values(
    bins: wp.array(dtype=int),
    weights: wp.array(dtype=float),
    directions: wp.array(dtype=wp.vec2),
    sums: wp.array2d(dtype=float),
    vectors: wp.array2d(dtype=wp.vec2),
):
    block, lane = wp.tid()
    counts = wp.tile_zeros(shape=4, dtype=float)
    moments = wp.tile_zeros(shape=3, dtype=wp.vec2)
    for k in range(lane, weights.shape[0], wp.block_dim()):
        bin = bins[k]
        wp.tile_scatter_add(counts, 2 * bin + 1, weights[k] * weights[k], weights[k] > -1.0)
        wp.tile_scatter_add(moments, 2 * bin, directions[k] * weights[k], True, atomic=True)
    wp.tile_scatter_masked(counts, 0, weights[block], lane == 0)
    wp.tile_store(sums[block], counts)
    wp.tile_store(vectors[block], moments)
