"""Transposed matrix: out[j, i] = x[i, j].

PyTorch: x.T.contiguous()
"""

import warp as wp


@wp.kernel
def transpose(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[j, i] = x[i, j]
