"""Matrix products of a batch: c[n, i, j] = sum of a[n, i, k] * b[n, k, j] over k.

PyTorch: torch.bmm(a, b)
"""

import warp as wp


@wp.kernel
def batched_matmul(a: wp.array3d(dtype=float), b: wp.array3d(dtype=float), c: wp.array3d(dtype=float)):
    n, i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[2]):
        total += a[n, i, k] * b[n, k, j]
    c[n, i, j] = total
