import warp as wp


@wp.kernel
def sum_of_squares(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(x.shape[1]):
        s += x[i, j] * x[i, j]
    out[i] = s
