"""Batch normalization with given statistics: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

x and out have the shape (images, channels, height, width); the other arrays have one element for each channel.

PyTorch: torch.nn.functional.batch_norm(x, mean, variance, weight, bias)
"""

import warp as wp


# domain: 0 <= variance <= 4
@wp.kernel
def batch_norm(
    x: wp.array4d(dtype=float),
    mean: wp.array(dtype=float),
    variance: wp.array(dtype=float),
    weight: wp.array(dtype=float),
    bias: wp.array(dtype=float),
    out: wp.array4d(dtype=float),
):
    n, c, i, j = wp.tid()
    deviation = wp.sqrt(variance[c] + 1.0e-5)
    out[n, c, i, j] = (x[n, c, i, j] - mean[c]) / deviation * weight[c] + bias[c]
