"""Transposed convolution of images: out[n, o, i, j] = bias[o] + sum of x[n, c, row, column] * weight[c, o, u, v].

The sum is over all c, row, column, u and v with row * stride - padding + u = i and column * stride - padding + v = j.
The shape of x is (images, channels, height, width), and that of weight is (channels, output channels, size, size).

PyTorch: torch.nn.functional.conv_transpose2d(x, weight, bias, stride, padding)
Valid inputs: the window is square
"""

import warp as wp


# The element (row / stride, column / stride) of an image, and zero for positions between and outside of elements.
@wp.func
def spread(x: wp.array4d(dtype=float), n: int, c: int, row: int, column: int, stride: int) -> float:
    if row < 0 or row >= x.shape[2] * stride or column < 0 or column >= x.shape[3] * stride:
        return 0.0
    if row % stride != 0 or column % stride != 0:
        return 0.0
    return x[n, c, row / stride, column / stride]


# launch: (x.shape[0], weight.shape[1], (x.shape[2] - 1) * stride - 2 * padding + weight.shape[2], (x.shape[3] - 1) * stride - 2 * padding + weight.shape[2])
# domain: 1 <= stride <= 3
# domain: 0 <= padding < weight.shape[2]
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
            for v in range(weight.shape[2]):
                total += spread(x, n, c, i + padding - u, j + padding - v, stride) * weight[c, o, u, v]
    out[n, o, i, j] = total
