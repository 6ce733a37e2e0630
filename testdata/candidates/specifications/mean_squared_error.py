import warp as wp


@wp.kernel
def mean_squared_error(
    predictions: wp.array2d(dtype=float), targets: wp.array2d(dtype=float), out: wp.array(dtype=float)
):
    row = wp.tid()
    total = float(0.0)
    for j in range(predictions.shape[1]):
        d = predictions[row, j] - targets[row, j]
        total += d * d
    out[row] = total / float(predictions.shape[1])
