import warp as wp


@wp.kernel
def softmax(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    largest = x[row, 0]
    for j in range(1, x.shape[1]):
        largest = wp.max(largest, x[row, j])
    total = float(0.0)
    for j in range(x.shape[1]):
        total += wp.exp(x[row, j] - largest)
    for j in range(x.shape[1]):
        out[row, j] = wp.exp(x[row, j] - largest) / total
