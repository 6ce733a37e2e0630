"""Scaled sum of two vectors: out = alpha * x + y.

PyTorch: torch.add(y, x, alpha=alpha)
"""

import warp as wp


@wp.kernel
def axpy(alpha: float, x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = alpha * x[i] + y[i]
