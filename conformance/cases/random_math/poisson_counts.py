# Random counts with means on both sides of 10, from where on Warp uses another method, and with the mean zero.
import warp as wp


# domain: 0 <= mean <= 15
@wp.kernel
def poisson_counts(
    mean: wp.array(dtype=float), x: wp.array(dtype=float), count: wp.array(dtype=wp.uint32), out: wp.array(dtype=float)
):
    i = wp.tid()
    state = wp.rand_init(23, i)
    small = wp.poisson(state, mean[i])
    none = wp.poisson(state, 0.0)
    large = wp.poisson(state, 10.0 + 3.0 * mean[i])
    count[i] = small + none * wp.uint32(1000) + large * wp.uint32(1000000)
    out[i] = x[i] * float(small) + wp.randf(state)
