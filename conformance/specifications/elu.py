"""Exponential linear unit: out = x if x > 0, else alpha * (exp(x) - 1).

PyTorch: torch.nn.functional.elu(x, alpha)
"""

import warp as wp


@wp.kernel
def elu(x: wp.array(dtype=float), alpha: float, out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.0:
        out[i] = x[i]
    else:
        out[i] = alpha * (wp.exp(x[i]) - 1.0)
