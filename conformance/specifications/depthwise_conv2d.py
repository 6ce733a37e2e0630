"""Convolution of each channel by itself: out[n, c, i, j] = bias[c] + sum of x[n, c, row, column] * weight[c, u, v].

The sum is over the offsets u and v, with row = i - padding + u and column = j - padding + v; x is zero outside its
bounds. The shape of x is (images, channels, height, width), and that of weight is (channels, height of the window,
width of the window).

PyTorch: torch.nn.functional.conv2d(x, weight[:, None], bias, padding=padding, groups=x.shape[1])
"""

import warp as wp


@wp.func
def padded(x: wp.array4d(dtype=float), n: int, c: int, row: int, column: int) -> float:
    if row < 0 or row >= x.shape[2] or column < 0 or column >= x.shape[3]:
        return 0.0
    return x[n, c, row, column]


# launch: (x.shape[0], x.shape[1], x.shape[2] + 2 * padding - weight.shape[1] + 1, x.shape[3] + 2 * padding - weight.shape[2] + 1)
# domain: 0 <= padding <= 2
@wp.kernel
def depthwise_conv2d(
    x: wp.array4d(dtype=float),
    weight: wp.array3d(dtype=float),
    bias: wp.array(dtype=float),
    padding: int,
    out: wp.array4d(dtype=float),
):
    n, c, i, j = wp.tid()
    total = bias[c]
    for u in range(weight.shape[1]):
        for v in range(weight.shape[2]):
            total += padded(x, n, c, i - padding + u, j - padding + v) * weight[c, u, v]
    out[n, c, i, j] = total
