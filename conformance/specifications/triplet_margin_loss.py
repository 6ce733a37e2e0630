"""Triplet loss of each row: loss = max(|anchor - positive + 1e-6| - |anchor - negative + 1e-6| + margin, 0).

The bars are Euclidean norms of rows.

PyTorch: torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin, reduction="none")
"""

import warp as wp


@wp.func
def squared_distance(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), row: int) -> float:
    total = float(0.0)
    for j in range(a.shape[1]):
        d = a[row, j] - b[row, j] + 1.0e-6
        total += d * d
    return total


@wp.kernel
def triplet_margin_loss(
    anchor: wp.array2d(dtype=float),
    positive: wp.array2d(dtype=float),
    negative: wp.array2d(dtype=float),
    margin: float,
    loss: wp.array(dtype=float),
):
    row = wp.tid()
    near = wp.sqrt(squared_distance(anchor, positive, row))
    far = wp.sqrt(squared_distance(anchor, negative, row))
    loss[row] = wp.max(near - far + margin, 0.0)
