# A walk whose steps a generator draws in a loop with branches: the state is carried from iteration to iteration.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def random_walk(x: wp.array(dtype=float), n: int, seed: int, out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i * 7)
    s = x[i]
    for j in range(n):
        drawn = wp.randf(state)
        if drawn < 0.5:
            s = s * 0.75 + drawn * x[i] * wp.randf(state)
        else:
            s = s - drawn * x[i]
    out[i] = s * s
