# A softmax by row, stabilised by its greatest element and stored next to an output of the same shape.
import warp as wp


@wp.kernel
def softmax_rows(x: wp.array2d(dtype=float), greatest: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    n = x.shape[1]
    top = x[i, 0]
    for j in range(1, n):
        top = wp.max(top, x[i, j])
    greatest[i] = top
    s = float(0.0)
    for j in range(n):
        s += wp.exp(x[i, j] - top)
    for j in range(n):
        out[i, j] = wp.exp(x[i, j] - top) / s
