"""Normalization of each row by its root mean square: out = x / sqrt(mean of x^2 + 1e-5) * weight.

PyTorch: torch.nn.functional.rms_norm(x, x.shape[1:], weight, eps=1e-5)
"""

import warp as wp


@wp.func
def row_squares(x: wp.array2d(dtype=float), row: int) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j] * x[row, j]
    return total


@wp.kernel
def rms_norm(x: wp.array2d(dtype=float), weight: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    root = wp.sqrt(row_squares(x, row) / float(x.shape[1]) + 1.0e-5)
    for j in range(x.shape[1]):
        out[row, j] = x[row, j] / root * weight[j]
