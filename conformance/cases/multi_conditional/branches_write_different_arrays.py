# Each thread writes one of two arrays; what it does not write keeps its content and gets no gradient.
import warp as wp


@wp.kernel
def branches_write_different_arrays(
    x: wp.array(dtype=float), y: wp.array(dtype=float), low: wp.array(dtype=float), high: wp.array(dtype=float)
):
    i = wp.tid()
    t = x[i] * y[i]
    if t < 0.1:
        low[i] = t * x[i] - 1.0
    else:
        high[i] = t + y[i] * y[i]
