"""Leaky rectified linear unit: out = x if x > 0, else slope * x.

PyTorch: torch.nn.functional.leaky_relu(x, negative_slope=slope)
"""

import warp as wp


@wp.kernel
def leaky_relu(x: wp.array(dtype=float), slope: float, out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.0:
        out[i] = x[i]
    else:
        out[i] = slope * x[i]
