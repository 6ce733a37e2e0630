"""Cumulative sum of each row: out[i, j] = x[i, 0] + ... + x[i, j].

PyTorch: torch.cumsum(x, dim=1)
"""

import warp as wp


@wp.kernel
def cumulative_sum(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j]
        out[row, j] = total
