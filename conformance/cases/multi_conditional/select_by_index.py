# A branch for each remainder of the thread index.
import warp as wp


@wp.kernel
def select_by_index(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    k = i % 4
    if k == 0:
        out[i] = x[i] * y[i]
    elif k == 1:
        out[i] = x[i] - y[i]
    elif k == 2:
        out[i] = wp.sin(x[i]) + 0.5
    else:
        out[i] = y[i] * y[i] * y[i]
