# A scatter through a permutation, and the gather that undoes it.
import warp as wp


# domain: to is a permutation
@wp.kernel
def permutation_scatter(
    x: wp.array(dtype=float), to: wp.array(dtype=int), out: wp.array(dtype=float), back: wp.array(dtype=float)
):
    i = wp.tid()
    out[to[i]] = x[i] * x[i] + 0.5
    back[i] = x[to[i]] * float(i + 1)
