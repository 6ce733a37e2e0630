# A default is stored first and overwritten by some threads: only the last store counts.
import warp as wp


@wp.kernel
def early_default(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * 3.0
    if y[i] > 0.75:
        out[i] = y[i] * y[i]
    elif y[i] > 0.0 and x[i] < 0.5:
        out[i] = x[i] * y[i] + 0.25
