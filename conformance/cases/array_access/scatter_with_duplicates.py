# A scatter with repeated indices must add, not overwrite.
import warp as wp


# domain: 0 <= to <= 5
@wp.kernel
def scatter_with_duplicates(
    x: wp.array(dtype=float), y: wp.array(dtype=float), to: wp.array(dtype=int), out: wp.array(dtype=float)
):
    i = wp.tid()
    out[to[i]] += x[i] * y[i]
