"""Euclidean distance of each row of a and each row of b: out[i, j] = sqrt(sum of (a[i, k] - b[j, k])^2 over k).

PyTorch: torch.cdist(a, b)
"""

import warp as wp


@wp.func
def squared_distance(a: wp.array2d(dtype=float), i: int, b: wp.array2d(dtype=float), j: int) -> float:
    total = float(0.0)
    for k in range(a.shape[1]):
        total += (a[i, k] - b[j, k]) * (a[i, k] - b[j, k])
    return total


@wp.kernel
def pairwise_distance(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = wp.sqrt(squared_distance(a, i, b, j))
