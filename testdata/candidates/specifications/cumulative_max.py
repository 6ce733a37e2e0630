import warp as wp


@wp.kernel
def cumulative_max(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    largest = x[i, 0]
    for j in range(x.shape[1]):
        largest = wp.max(largest, x[i, j])
        out[i, j] = largest
