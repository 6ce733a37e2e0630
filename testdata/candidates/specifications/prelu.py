import warp as wp


@wp.kernel
def prelu(x: wp.array2d(dtype=float), w: wp.array(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    if x[i, j] > 0.0:
        y[i, j] = x[i, j]
    else:
        y[i, j] = w[j] * x[i, j]
