"""Unbiased variance of each row: out[i] = sum of (x[i, j] - mean of the row)^2 over j, divided by n - 1.

PyTorch: x.var(dim=1)
Valid inputs: at least two columns
"""

import warp as wp


@wp.kernel
def row_variance(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j]
    mean = total / float(x.shape[1])
    squares = float(0.0)
    for j in range(x.shape[1]):
        squares += (x[row, j] - mean) * (x[row, j] - mean)
    out[row] = squares / float(x.shape[1] - 1)
