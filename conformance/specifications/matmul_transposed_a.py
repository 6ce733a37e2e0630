"""Product of a transposed matrix and a matrix: c[i, j] = sum of a[k, i] * b[k, j] over k.

PyTorch: torch.matmul(a.T, b)
"""

import warp as wp


@wp.kernel
def matmul_transposed_a(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[0]):
        total += a[k, i] * b[k, j]
    c[i, j] = total
