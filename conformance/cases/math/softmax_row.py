# Softmax of a row: a cotangent of all ones would give a zero gradient and hide errors. The maximum is an output.
import warp as wp


@wp.kernel
def softmax_row(x: wp.array2d(dtype=float), top: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    m = x[i, 0]
    for j in range(1, 4):
        m = wp.max(m, x[i, j])
    top[i] = m
    s = float(0.0)
    for j in range(4):
        s += wp.exp(x[i, j] - m)
    for j in range(4):
        out[i, j] = wp.exp(x[i, j] - m) / s
