import warp as wp


@wp.kernel
def row_top2(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i = wp.tid()
    a = float(-3.0e38)
    b = float(-3.0e38)
    for j in range(x.shape[1]):
        v = x[i, j]
        if v > a:
            b = a
            a = v
        elif v > b:
            b = v
    y[i, 0] = a
    y[i, 1] = b
