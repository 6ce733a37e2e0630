# Four indices from the thread, read in another order than written.
import warp as wp


@wp.kernel
def four_dimensional(x: wp.array4d(dtype=float), w: wp.array2d(dtype=float), out: wp.array4d(dtype=float)):
    i, j, k, l = wp.tid()
    out[i, j, k, l] = x[l, k, j, i] * w[j, l] + 0.5 * w[j, l]
