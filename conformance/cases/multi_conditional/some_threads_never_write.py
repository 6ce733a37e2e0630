# An output that some threads do not write, next to one that all write.
import warp as wp


@wp.kernel
def some_threads_never_write(
    x: wp.array(dtype=float), y: wp.array(dtype=float), marked: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    if x[i] > 0.5:
        marked[i] = x[i] * y[i]
    elif y[i] > 1.0:
        marked[i] = y[i] - 0.5
    out[i] = x[i] + 2.0 * y[i]
