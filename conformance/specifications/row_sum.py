"""Sum of each row: out[i] = sum of x[i, j] over j.

PyTorch: x.sum(dim=1)
"""

import warp as wp


@wp.kernel
def row_sum(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j]
    out[row] = total
