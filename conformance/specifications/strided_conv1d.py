"""Convolution of signals with a stride: out[n, o, i] = sum of x[n, c, i * stride + u] * weight[o, c, u].

The sum is over the channels c and the offsets u. The shape of x is (batch, channels, positions), and that of weight
is (output channels, channels, size of the window).

PyTorch: torch.nn.functional.conv1d(x, weight, stride=stride)
"""

import warp as wp


# domain: 1 <= stride <= 3
@wp.kernel
def strided_conv1d(
    x: wp.array3d(dtype=float), weight: wp.array3d(dtype=float), stride: int, out: wp.array3d(dtype=float)
):
    n, o, i = wp.tid()
    total = float(0.0)
    for c in range(weight.shape[1]):
        for u in range(weight.shape[2]):
            total += x[n, c, i * stride + u] * weight[o, c, u]
    out[n, o, i] = total
