"""Gaussian error linear unit, approximated: out = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2.

PyTorch: torch.nn.functional.gelu(x, approximate="tanh")
"""

import warp as wp


@wp.kernel
def gelu_tanh(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    inner = 0.7978845608028654 * (x[i] + 0.044715 * x[i] * x[i] * x[i])
    out[i] = 0.5 * x[i] * (1.0 + wp.tanh(inner))
