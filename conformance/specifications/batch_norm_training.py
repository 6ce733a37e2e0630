"""Batch normalization in training: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

x and out have the shape (images, channels, height, width). The mean and the variance
(divisor n) are those of a channel in all images.

PyTorch: torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True)
"""

import warp as wp


@wp.func
def channel_mean(x: wp.array4d(dtype=float), c: int) -> float:
    total = float(0.0)
    for n in range(x.shape[0]):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                total += x[n, c, i, j]
    return total / float(x.shape[0] * x.shape[2] * x.shape[3])


@wp.func
def channel_variance(x: wp.array4d(dtype=float), c: int, mean: float) -> float:
    squares = float(0.0)
    for n in range(x.shape[0]):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                squares += (x[n, c, i, j] - mean) * (x[n, c, i, j] - mean)
    return squares / float(x.shape[0] * x.shape[2] * x.shape[3])


@wp.kernel
def batch_norm_training(
    x: wp.array4d(dtype=float), weight: wp.array(dtype=float), bias: wp.array(dtype=float), out: wp.array4d(dtype=float)
):
    c = wp.tid()
    mean = channel_mean(x, c)
    deviation = wp.sqrt(channel_variance(x, c, mean) + 1.0e-5)
    for n in range(x.shape[0]):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                out[n, c, i, j] = (x[n, c, i, j] - mean) / deviation * weight[c] + bias[c]
