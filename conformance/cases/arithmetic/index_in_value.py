# The thread index as a float factor, and integer division and remainder of it as steps.
import warp as wp


@wp.kernel
def index_in_value(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * float(i) + float(i / 3) - 0.5 * float(i % 4) * x[i]
