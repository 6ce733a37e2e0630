"""Convolution of signals: out[n, o, i] = bias[o] + sum of x[n, c, i * stride - padding + k] * weight[o, c, k].

The sum is over the channels c and the offsets k; x is zero outside its bounds. The shape of x is
(batch, channels, positions), and that of weight is (output channels, channels, offsets).

PyTorch: torch.nn.functional.conv1d(x, weight, bias, stride, padding)
"""

import warp as wp


# domain: 1 <= stride <= 3
# domain: 0 <= padding <= 2
@wp.kernel
def conv1d(
    x: wp.array3d(dtype=float),
    weight: wp.array3d(dtype=float),
    bias: wp.array(dtype=float),
    stride: int,
    padding: int,
    out: wp.array3d(dtype=float),
):
    n, o, i = wp.tid()
    total = bias[o]
    for c in range(weight.shape[1]):
        for k in range(weight.shape[2]):
            at = i * stride - padding + k
            if at >= 0 and at < x.shape[2]:
                total += x[n, c, at] * weight[o, c, k]
    out[n, o, i] = total
