# One element is written twice: only the last write receives the cotangent.
import warp as wp


@wp.kernel
def cell_written_twice(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * y[i] * 3.0
    if y[i] > 0.25:
        out[i] = x[i] * x[i] - y[i]
    out[i] = out[i] * 0.5 + y[i]
