# Uniform numbers in [0, 1) and in a range whose ends are active: the numbers carry no gradient, the ends do.
import warp as wp


@wp.kernel
def random_floats(
    x: wp.array(dtype=float), seed: int, low: float, high: float, unit: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    unit[i] = wp.randf(state) + 0.5
    out[i] = x[i] * wp.randf(state, low, high) + wp.randf(state)
