"""Layer normalization of each row: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

The mean and the variance (divisor n) are those of the row.

PyTorch: torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias)
"""

import warp as wp


@wp.func
def row_mean(x: wp.array2d(dtype=float), row: int) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j]
    return total / float(x.shape[1])


@wp.func
def row_variance(x: wp.array2d(dtype=float), row: int, mean: float) -> float:
    squares = float(0.0)
    for j in range(x.shape[1]):
        squares += (x[row, j] - mean) * (x[row, j] - mean)
    return squares / float(x.shape[1])


@wp.kernel
def layer_norm(
    x: wp.array2d(dtype=float), weight: wp.array(dtype=float), bias: wp.array(dtype=float), out: wp.array2d(dtype=float)
):
    row = wp.tid()
    mean = row_mean(x, row)
    deviation = wp.sqrt(row_variance(x, row, mean) + 1.0e-5)
    for j in range(x.shape[1]):
        out[row, j] = (x[row, j] - mean) / deviation * weight[j] + bias[j]
