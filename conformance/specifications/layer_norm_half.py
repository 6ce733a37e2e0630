"""Layer normalization of float16 rows in float32: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

The mean and the variance (divisor n) are those of the row.

PyTorch: torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias)
"""

import warp as wp


@wp.func
def row_mean(x: wp.array2d(dtype=wp.float16), row: int) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += float(x[row, j])
    return total / float(x.shape[1])


@wp.func
def row_variance(x: wp.array2d(dtype=wp.float16), row: int, mean: float) -> float:
    squares = float(0.0)
    for j in range(x.shape[1]):
        squares += (float(x[row, j]) - mean) * (float(x[row, j]) - mean)
    return squares / float(x.shape[1])


@wp.kernel
def layer_norm_half(
    x: wp.array2d(dtype=wp.float16),
    weight: wp.array(dtype=wp.float16),
    bias: wp.array(dtype=wp.float16),
    out: wp.array2d(dtype=wp.float16),
):
    row = wp.tid()
    mean = row_mean(x, row)
    deviation = wp.sqrt(row_variance(x, row, mean) + 1.0e-5)
    for j in range(x.shape[1]):
        out[row, j] = wp.float16((float(x[row, j]) - mean) / deviation * float(weight[j]) + float(bias[j]))
