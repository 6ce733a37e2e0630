"""Transposed convolution of images: out[n, o, i, j] = bias[o] + sum of x[n, c, row, column] * weight[c, o, u, v].

The sum is over all c, row, column, u and v with row * stride - padding + u = i and column * stride - padding + v = j.
The shape of x is (images, channels, height, width), and that of weight is (channels, output channels, height of the
window, width of the window).

PyTorch: torch.nn.functional.conv_transpose2d(x, weight, bias, stride, padding)
"""

import warp as wp


# launch: (x.shape[0], weight.shape[1], (x.shape[2] - 1) * stride - 2 * padding + weight.shape[2], (x.shape[3] - 1) * stride - 2 * padding + weight.shape[3])
# domain: 1 <= stride <= 3
# domain: 0 <= padding <= 2
@wp.kernel
def transposed_conv2d(
    x: wp.array4d(dtype=float),
    weight: wp.array4d(dtype=float),
    bias: wp.array(dtype=float),
    stride: int,
    padding: int,
    out: wp.array4d(dtype=float),
):
    n, o, i, j = wp.tid()
    total = bias[o]
    for c in range(x.shape[1]):
        for u in range(weight.shape[2]):
            for v in range(weight.shape[3]):
                above = i + padding - u
                left = j + padding - v
                if above >= 0 and left >= 0 and above % stride == 0 and left % stride == 0:
                    row = above / stride
                    column = left / stride
                    if row < x.shape[2] and column < x.shape[3]:
                        total += x[n, c, row, column] * weight[c, o, u, v]
    out[n, o, i, j] = total
