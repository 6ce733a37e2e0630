"""Group normalization: out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.

x and out have the shape (images, channels, height, width). The channels form groups of the same size; the mean and the
variance (divisor n) are those of all channels in the group, in one image. A thread computes one group of an image.

PyTorch: torch.nn.functional.group_norm(x, groups, weight, bias)
Valid inputs: the number of channels is a multiple of groups
"""

import warp as wp


@wp.func
def group_mean(x: wp.array4d(dtype=float), n: int, first: int, size: int) -> float:
    total = float(0.0)
    for c in range(first, first + size):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                total += x[n, c, i, j]
    return total / float(size * x.shape[2] * x.shape[3])


@wp.func
def group_variance(x: wp.array4d(dtype=float), n: int, first: int, size: int, mean: float) -> float:
    squares = float(0.0)
    for c in range(first, first + size):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                squares += (x[n, c, i, j] - mean) * (x[n, c, i, j] - mean)
    return squares / float(size * x.shape[2] * x.shape[3])


# launch: (x.shape[0], groups)
# domain: 1 <= groups <= x.shape[1]
@wp.kernel
def group_norm(
    x: wp.array4d(dtype=float),
    groups: int,
    weight: wp.array(dtype=float),
    bias: wp.array(dtype=float),
    out: wp.array4d(dtype=float),
):
    n, g = wp.tid()
    size = x.shape[1] / groups
    mean = group_mean(x, n, g * size, size)
    deviation = wp.sqrt(group_variance(x, n, g * size, size, mean) + 1.0e-5)
    for c in range(g * size, g * size + size):
        for i in range(x.shape[2]):
            for j in range(x.shape[3]):
                out[n, c, i, j] = (x[n, c, i, j] - mean) / deviation * weight[c] + bias[c]
