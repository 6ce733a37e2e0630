# A float becomes an index and a weight: the index is inactive, the weight carries the gradient.
import warp as wp


# domain: 0.1 <= x <= 6.9
@wp.kernel
def float_to_index(
    x: wp.array(dtype=float),
    table: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    k = int(wp.floor(x[i]))
    w = x[i] - float(k)
    out[i] = table[k] * (1.0 - w) + table[k + 1] * w
