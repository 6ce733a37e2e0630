import warp as wp


@wp.kernel
def masked_softmax(x: wp.array2d(dtype=float), keep: wp.array2d(dtype=int), y: wp.array2d(dtype=float)):
    i = wp.tid()
    m = float(-1.0e30)
    for j in range(x.shape[1]):
        if keep[i, j] != 0:
            m = wp.max(m, x[i, j])
    s = float(0.0)
    for j in range(x.shape[1]):
        if keep[i, j] != 0:
            s += wp.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        if keep[i, j] != 0:
            y[i, j] = wp.exp(x[i, j] - m) / s
        else:
            y[i, j] = 0.0
