"""Division of each row by its Euclidean norm, which is replaced by 1e-12 if it is smaller.

PyTorch: torch.nn.functional.normalize(x, dim=1)
"""

import warp as wp


@wp.func
def row_squares(x: wp.array2d(dtype=float), row: int) -> float:
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j] * x[row, j]
    return total


@wp.kernel
def l2_normalize(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    norm = wp.max(wp.sqrt(row_squares(x, row)), 1.0e-12)
    for j in range(x.shape[1]):
        out[row, j] = x[row, j] / norm
