# The least and the greatest element of a block have gradients, and where they stand picks a weight.
import warp as wp


@wp.kernel
def extremes(x: wp.array(dtype=float), w: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x, shape=7, offset=i * 7)
    at = wp.tile_argmax(t)[0]
    below = wp.tile_argmin(t)[0]
    out[i, 0] = wp.tile_max(t)[0] * w[at]
    out[i, 1] = wp.tile_reduce(wp.min, t)[0] * w[below] + wp.tile_min(t)[0]
