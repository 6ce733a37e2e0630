"""Convolution of signals: out[n, o, i] = bias[o] + sum of x[n, c, i - padding + u] * weight[o, c, u].

The sum is over the channels c and the offsets u; x is zero outside its bounds. The shape of x is
(batch, channels, positions), and that of weight is (output channels, channels, size of the window).

PyTorch: torch.nn.functional.conv1d(x, weight, bias, padding=padding)
"""

import warp as wp


@wp.func
def padded(x: wp.array3d(dtype=float), n: int, c: int, at: int) -> float:
    if at < 0 or at >= x.shape[2]:
        return 0.0
    return x[n, c, at]


# launch: (x.shape[0], weight.shape[0], x.shape[2] + 2 * padding - weight.shape[2] + 1)
# domain: 0 <= padding <= 2
@wp.kernel
def conv1d(
    x: wp.array3d(dtype=float),
    weight: wp.array3d(dtype=float),
    bias: wp.array(dtype=float),
    padding: int,
    out: wp.array3d(dtype=float),
):
    n, o, i = wp.tid()
    total = bias[o]
    for c in range(weight.shape[1]):
        for u in range(weight.shape[2]):
            total += padded(x, n, c, i - padding + u) * weight[o, c, u]
    out[n, o, i] = total
