"""Cumulative product of each row: out[i, j] = x[i, 0] * ... * x[i, j].

PyTorch: torch.cumprod(x, dim=1)
"""

import warp as wp


@wp.kernel
def cumulative_product(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    product = float(1.0)
    for j in range(x.shape[1]):
        product *= x[row, j]
        out[row, j] = product
