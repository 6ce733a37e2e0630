# Read, modify, write, then read again for another output.
import warp as wp


@wp.kernel
def modified_then_read(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = y[i] * x[i] + 0.5
    out[i] = y[i] * y[i] - x[i]
