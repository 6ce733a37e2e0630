# A histogram of float values: the bin is truncated to an integer and inactive, the weight is active.
import warp as wp


# domain: 0 <= x < 3.9
@wp.kernel
def histogram_of_values(
    x: wp.array(dtype=float), w: wp.array(dtype=float), count: wp.array(dtype=int), sums: wp.array(dtype=float)
):
    i = wp.tid()
    bin = int(x[i])
    wp.atomic_add(count, bin, 1)
    wp.atomic_add(sums, bin, w[i] * x[i])
