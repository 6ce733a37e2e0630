"""Product of a matrix and a vector: y[i] = sum of a[i, j] * x[j] over j.

PyTorch: torch.mv(a, x)
"""

import warp as wp


@wp.kernel
def matvec(a: wp.array2d(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for j in range(a.shape[1]):
        total += a[i, j] * x[j]
    y[i] = total
