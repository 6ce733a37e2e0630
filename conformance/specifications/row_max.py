"""Largest element of each row: out[i] = max of x[i, j] over j.

PyTorch: x.amax(dim=1)
"""

import warp as wp


@wp.kernel
def row_max(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    largest = x[row, 0]
    for j in range(1, x.shape[1]):
        largest = wp.max(largest, x[row, j])
    out[row] = largest
