"""Outer product of two vectors: c[i, j] = a[i] * b[j].

PyTorch: torch.outer(a, b)
"""

import warp as wp


@wp.kernel
def outer_product(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    c[i, j] = a[i] * b[j]
