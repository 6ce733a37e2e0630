"""Logarithm of a sum of exponentials, for each row: out[i] = log of the sum of exp(x[i, k]) over k.

The largest element of the row is subtracted first, so exp does not overflow.

PyTorch: torch.logsumexp(x, dim=1)
"""

import warp as wp


@wp.func
def row_max(x: wp.array2d(dtype=float), row: int) -> float:
    largest = x[row, 0]
    for j in range(1, x.shape[1]):
        largest = wp.max(largest, x[row, j])
    return largest


@wp.func
def exp_sum(x: wp.array2d(dtype=float), row: int, shift: float) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += wp.exp(x[row, j] - shift)
    return total


@wp.kernel
def logsumexp(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    largest = row_max(x, row)
    out[row] = wp.log(exp_sum(x, row, largest)) + largest
