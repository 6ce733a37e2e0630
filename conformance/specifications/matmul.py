"""Matrix product: c[i, j] = sum of a[i, k] * b[k, j] over k.

PyTorch: torch.matmul(a, b)
"""

import warp as wp


@wp.kernel
def matmul(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total
