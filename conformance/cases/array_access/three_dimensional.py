# Three indices from the thread, neighbours along the last of them.
import warp as wp


@wp.kernel
def three_dimensional(x: wp.array3d(dtype=float), out: wp.array3d(dtype=float)):
    i, j, k = wp.tid()
    out[i, j, k] = x[i, j, k] * x[i, j, k + 1] - 0.5 * x[i, j, k]
