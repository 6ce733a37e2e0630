"""Instance normalization: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

x and out have the shape (images, channels, height, width). The mean and the variance
(divisor n) are those of a channel of one image.

PyTorch: torch.nn.functional.instance_norm(x, weight=weight, bias=bias)
"""

import warp as wp


@wp.func
def channel_mean(x: wp.array4d(dtype=float), n: int, c: int) -> float:
    total = float(0.0)
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            total += x[n, c, i, j]
    return total / float(x.shape[2] * x.shape[3])


@wp.func
def channel_variance(x: wp.array4d(dtype=float), n: int, c: int, mean: float) -> float:
    squares = float(0.0)
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            squares += (x[n, c, i, j] - mean) * (x[n, c, i, j] - mean)
    return squares / float(x.shape[2] * x.shape[3])


@wp.kernel
def instance_norm(
    x: wp.array4d(dtype=float), weight: wp.array(dtype=float), bias: wp.array(dtype=float), out: wp.array4d(dtype=float)
):
    n, c = wp.tid()
    mean = channel_mean(x, n, c)
    deviation = wp.sqrt(channel_variance(x, n, c, mean) + 1.0e-5)
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            out[n, c, i, j] = (x[n, c, i, j] - mean) / deviation * weight[c] + bias[c]
