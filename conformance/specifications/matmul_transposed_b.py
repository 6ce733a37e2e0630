"""Product of a matrix and a transposed matrix: c[i, j] = sum of a[i, k] * b[j, k] over k.

PyTorch: torch.matmul(a, b.T)
"""

import warp as wp


@wp.kernel
def matmul_transposed_b(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[j, k]
    c[i, j] = total
