# A gather through an index array in which some elements occur many times and some never.
import warp as wp


# domain: 0 <= at <= 4
@wp.kernel
def gather_with_duplicates(
    x: wp.array(dtype=float), at: wp.array(dtype=int), y: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    out[i] = x[at[i]] * y[i] + x[at[i] + 1]
