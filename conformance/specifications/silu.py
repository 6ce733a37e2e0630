"""Sigmoid linear unit (swish): out = x / (1 + exp(-x)).

PyTorch: torch.nn.functional.silu(x)
"""

import warp as wp


@wp.kernel
def silu(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] / (1.0 + wp.exp(-x[i]))
