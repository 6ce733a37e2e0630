"""Logistic function: out = 1 / (1 + exp(-x)).

PyTorch: torch.sigmoid(x)
"""

import warp as wp


@wp.kernel
def sigmoid(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0 / (1.0 + wp.exp(-x[i]))
