"""Convolution of images: out[n, o, i, j] = bias[o] + sum of x[n, c, row, column] * weight[o, c, u, v].

The sum is over the channels c and the offsets u and v, with row = i - padding + u and column = j - padding + v; x is
zero outside its bounds. The shape of x is (images, channels, height, width), and that of weight is (output channels,
channels, height of the window, width of the window).

PyTorch: torch.nn.functional.conv2d(x, weight, bias, padding=padding)
"""

import warp as wp


@wp.func
def padded(x: wp.array4d(dtype=float), n: int, c: int, row: int, column: int) -> float:
    if row < 0 or row >= x.shape[2] or column < 0 or column >= x.shape[3]:
        return 0.0
    return x[n, c, row, column]


# launch: (x.shape[0], weight.shape[0], x.shape[2] + 2 * padding - weight.shape[2] + 1, x.shape[3] + 2 * padding - weight.shape[3] + 1)
# domain: 0 <= padding <= 2
@wp.kernel
def conv2d(
    x: wp.array4d(dtype=float),
    weight: wp.array4d(dtype=float),
    bias: wp.array(dtype=float),
    padding: int,
    out: wp.array4d(dtype=float),
):
    n, o, i, j = wp.tid()
    total = bias[o]
    for c in range(weight.shape[1]):
        for u in range(weight.shape[2]):
            for v in range(weight.shape[3]):
                total += padded(x, n, c, i - padding + u, j - padding + v) * weight[o, c, u, v]
    out[n, o, i, j] = total
