"""Logarithm of the logistic function: out = -log(1 + exp(-x)).

PyTorch: torch.nn.functional.logsigmoid(x)
"""

import warp as wp


@wp.kernel
def log_sigmoid(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.0:
        out[i] = -wp.log(1.0 + wp.exp(-x[i]))
    else:
        out[i] = x[i] - wp.log(1.0 + wp.exp(x[i]))
