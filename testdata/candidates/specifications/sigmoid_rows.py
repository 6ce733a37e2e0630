import warp as wp


@wp.kernel
def sig2(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = 1.0 / (1.0 + wp.exp(-x[i, j]))
