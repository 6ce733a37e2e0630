# Normal numbers by Box and Muller, as noise with an active scale; each takes two draws from the state.
import warp as wp


@wp.kernel
def random_normal(x: wp.array(dtype=float), scale: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(42, i)
    noise = wp.randn(state)
    out[i] = x[i] + scale[i] * noise * noise + 0.25 * wp.randn(state)
