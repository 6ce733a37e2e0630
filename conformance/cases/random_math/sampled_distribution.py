# Indices drawn from a cumulative distribution choose weights; a second draw uses a row of a table.
import warp as wp


@wp.kernel
def sampled_distribution(
    cdf: wp.array(dtype=float),
    rows: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    out: wp.array(dtype=float),
    chosen: wp.array(dtype=wp.vec2i),
):
    i = wp.tid()
    state = wp.rand_init(5, i)
    first = wp.sample_cdf(state, cdf)
    second = wp.sample_cdf(state, rows[1])
    chosen[i] = wp.vec2i(first, second)
    out[i] = x[i] * (cdf[first] + 2.0 * rows[1, second]) + wp.randf(state)
