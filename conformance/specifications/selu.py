"""Scaled exponential linear unit: out = scale * x if x > 0, else scale * alpha * (exp(x) - 1).

PyTorch: torch.nn.functional.selu(x)
"""

import warp as wp


@wp.kernel
def selu(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    alpha = 1.6732632423543772
    scale = 1.0507009873554805
    if x[i] > 0.0:
        out[i] = scale * x[i]
    else:
        out[i] = scale * alpha * (wp.exp(x[i]) - 1.0)
