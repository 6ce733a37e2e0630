# A histogram whose weights are active and whose bins are chosen by integers, with many threads to a bin.
import warp as wp


# domain: 0 <= bin < 5
@wp.kernel
def histogram_of_weights(bin: wp.array(dtype=int), w: wp.array(dtype=float), sums: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(sums, bin[i], w[i] * w[i] + 0.25)
