"""Softmax of each row of float16 elements, computed in float32: out[i, j] = exp(x[i, j]) / sum of exp(x[i, k]) over k.

The largest element of the row is subtracted first, so exp does not overflow.

PyTorch: torch.softmax(x, dim=1)
"""

import warp as wp


@wp.func
def row_max(x: wp.array2d(dtype=wp.float16), row: int) -> float:
    largest = float(x[row, 0])
    for j in range(1, x.shape[1]):
        largest = wp.max(largest, float(x[row, j]))
    return largest


@wp.func
def exp_sum(x: wp.array2d(dtype=wp.float16), row: int, shift: float) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += wp.exp(float(x[row, j]) - shift)
    return total


@wp.kernel
def softmax_half(x: wp.array2d(dtype=wp.float16), out: wp.array2d(dtype=wp.float16)):
    row = wp.tid()
    largest = row_max(x, row)
    total = exp_sum(x, row, largest)
    for j in range(x.shape[1]):
        out[row, j] = wp.float16(wp.exp(float(x[row, j]) - largest) / total)
