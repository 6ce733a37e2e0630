"""Mean of each row: out[i] = mean of x[i, j] over j.

PyTorch: x.mean(dim=1)
"""

import warp as wp


@wp.kernel
def row_mean(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[row, j]
    out[row] = total / float(x.shape[1])
