"""Mish: out = x * tanh(log(1 + exp(x))).

PyTorch: torch.nn.functional.mish(x)
"""

import warp as wp


@wp.kernel
def mish(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    softplus = float(0.0)
    if x[i] > 0.0:
        softplus = x[i] + wp.log(1.0 + wp.exp(-x[i]))
    else:
        softplus = wp.log(1.0 + wp.exp(x[i]))
    out[i] = x[i] * wp.tanh(softplus)
