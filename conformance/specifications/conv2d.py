"""Convolution of images: out[n, o, i, j] = bias[o] + sum of x[n, c, row, column] * weight[o, c, u, v].

The sum is over the channels c and the offsets u and v, with row = i - padding + u and column = j - padding + v; x is
zero outside its bounds. The shape of x is (images, channels, height, width), and that of weight is (output channels,
channels, height of the window, width of the window).

PyTorch: torch.nn.functional.conv2d(x, weight, bias, padding=padding)
"""

import warp as wp


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
                row = i - padding + u
                column = j - padding + v
                if row >= 0 and row < x.shape[2] and column >= 0 and column < x.shape[3]:
                    total += x[n, c, row, column] * weight[o, c, u, v]
    out[n, o, i, j] = total
