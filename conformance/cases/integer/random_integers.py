# Warp's generator, bit for bit: states from a seed and an offset, numbers of the full range and of a smaller one.
import warp as wp


@wp.kernel
def random_integers(seed: int, first: wp.array(dtype=int), die: wp.array(dtype=int), plain: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    first[i] = wp.randi(state)
    die[i] = wp.randi(state, -6, 7) + wp.randi(state, 0, 100) * 1000
    plain[i] = wp.randu(state) ^ wp.randu(state, wp.uint32(5), wp.uint32(90)) + wp.rand_init(seed)
