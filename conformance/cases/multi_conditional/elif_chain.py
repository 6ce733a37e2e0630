# Five pieces by rising thresholds, each with its own slope.
import warp as wp


@wp.kernel
def elif_chain(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = 0.25 * y[i]
    if x[i] < -1.0:
        t = x[i] * x[i]
    elif x[i] < -0.25:
        t = x[i] * y[i]
    elif x[i] < 0.5:
        t = t - x[i]
    elif x[i] < 1.25:
        t = t * 3.0
    else:
        t = y[i] * y[i] * x[i]
    out[i] = t + 0.5 * x[i]
