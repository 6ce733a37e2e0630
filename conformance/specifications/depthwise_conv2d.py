"""Convolution of each channel by itself: out[n, c, i, j] = bias[c] + sum of x[n, c, row, column] * weight[c, u, v].

The sum is over the offsets u and v, with row = i * stride - padding + u and column = j * stride - padding + v; x is
zero outside its bounds. The shape of weight is (channels, height of the window, width of the window).

PyTorch: torch.nn.functional.conv2d(x, weight[:, None], bias, stride, padding, groups=x.shape[1])
"""

import warp as wp


# domain: 1 <= stride <= 3
# domain: 0 <= padding <= 2
@wp.kernel
def depthwise_conv2d(
    x: wp.array4d(dtype=float),
    weight: wp.array3d(dtype=float),
    bias: wp.array(dtype=float),
    stride: int,
    padding: int,
    out: wp.array4d(dtype=float),
):
    n, c, i, j = wp.tid()
    total = bias[c]
    for u in range(weight.shape[1]):
        for v in range(weight.shape[2]):
            row = i * stride - padding + u
            column = j * stride - padding + v
            if row >= 0 and row < x.shape[2] and column >= 0 and column < x.shape[3]:
                total += x[n, c, row, column] * weight[c, u, v]
    out[n, c, i, j] = total
