# The old content is kept in a variable and used after the element has changed.
import warp as wp


@wp.kernel
def old_and_new(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    old = x[i]
    x[i] = y[i] * old - 1.0
    out[i] = old * x[i] * y[i]
