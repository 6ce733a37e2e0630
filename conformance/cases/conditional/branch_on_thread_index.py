# Threads of one block take different branches by their index.
import warp as wp


@wp.kernel
def branch_on_thread_index(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = float(i) * 0.01
    if i % 3 == 1:
        t += x[i] * x[i]
    else:
        t -= y[i] * x[i]
    out[i] = t
