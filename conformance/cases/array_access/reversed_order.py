# Reads an array from its end; the middle element is paired with itself.
import warp as wp


@wp.kernel
def reversed_order(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    out[i] = x[n - 1 - i] * x[i] + 0.25 * x[n - 1 - i]
