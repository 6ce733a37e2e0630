# += and -= on a thread-private element, which is read before and after.
import warp as wp


@wp.kernel
def augmented_sum(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    x[i] += y[i] * y[i]
    x[i] -= 0.25 * y[i]
    out[i] = x[i] * x[i]
