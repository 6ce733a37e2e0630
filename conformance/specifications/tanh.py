"""Hyperbolic tangent: out = tanh(x).

PyTorch: torch.tanh(x)
"""

import warp as wp


@wp.kernel
def tanh(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tanh(x[i])
