"""Logarithm of the softmax of each row: out[i, j] = x[i, j] - log of the sum of exp(x[i, k]) over k.

The largest element of the row is subtracted first, so exp does not overflow.

PyTorch: torch.log_softmax(x, dim=1)
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
def log_softmax(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    largest = row_max(x, row)
    total = exp_sum(x, row, largest)
    for j in range(x.shape[1]):
        out[row, j] = x[row, j] - largest - wp.log(total)
