import warp as wp


@wp.kernel
def row_mean_half(x: wp.array2d(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    row = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += float(x[row, j])
    out[row] = wp.float16(total / float(x.shape[1]))
