"""Column of the first largest element of each row.

PyTorch: x.argmax(dim=1)
"""

import warp as wp


@wp.kernel
def row_argmax(x: wp.array2d(dtype=float), out: wp.array(dtype=wp.int64)):
    row = wp.tid()
    first = int(0)
    for j in range(1, x.shape[1]):
        if x[row, j] > x[row, first]:
            first = j
    out[row] = wp.int64(first)
