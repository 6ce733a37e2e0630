"""Gaussian error linear unit: out = x * (1 + erf(x / sqrt(2))) / 2.

PyTorch: torch.nn.functional.gelu(x)
"""

import warp as wp


@wp.kernel
def gelu(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 0.5 * x[i] * (1.0 + wp.erf(x[i] / wp.sqrt(2.0)))
