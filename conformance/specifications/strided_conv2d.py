"""Convolution of images with a stride: out[n, o, i, j] = sum of x[n, c, row, column] * weight[o, c, u, v].

The sum is over the channels c and the offsets u and v, with row = i * stride + u and column = j * stride + v. The
shape of x is (images, channels, height, width), and that of weight is (output channels, channels, height of the
window, width of the window).

PyTorch: torch.nn.functional.conv2d(x, weight, stride=stride)
"""

import warp as wp


# domain: 1 <= stride <= 3
@wp.kernel
def strided_conv2d(
    x: wp.array4d(dtype=float), weight: wp.array4d(dtype=float), stride: int, out: wp.array4d(dtype=float)
):
    n, o, i, j = wp.tid()
    total = float(0.0)
    for c in range(weight.shape[1]):
        for u in range(weight.shape[2]):
            for v in range(weight.shape[3]):
                total += x[n, c, i * stride + u, j * stride + v] * weight[o, c, u, v]
    out[n, o, i, j] = total
