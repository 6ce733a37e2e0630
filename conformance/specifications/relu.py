"""Rectified linear unit: out = max(x, 0).

PyTorch: torch.relu(x)
"""

import warp as wp


@wp.kernel
def relu(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.max(x[i], 0.0)
