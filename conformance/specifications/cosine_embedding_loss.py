"""Cosine embedding loss of each row: 1 - cosine if label is 1, max(cosine - margin, 0) if label is -1, else 0.

The cosine is that of the angle between row i of a and row i of b: their dot product, divided by
sqrt((|a|^2 + 1e-12) * (|b|^2 + 1e-12)).

PyTorch: torch.nn.functional.cosine_embedding_loss(a, b, label, margin, reduction="none")
"""

import warp as wp


@wp.func
def row_product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), row: int) -> float:
    total = float(0.0)
    for j in range(a.shape[1]):
        total += a[row, j] * b[row, j]
    return total


# domain: -1 <= label <= 1
@wp.kernel
def cosine_embedding_loss(
    a: wp.array2d(dtype=float),
    b: wp.array2d(dtype=float),
    label: wp.array(dtype=int),
    margin: float,
    loss: wp.array(dtype=float),
):
    row = wp.tid()
    norms = wp.sqrt((row_product(a, a, row) + 1.0e-12) * (row_product(b, b, row) + 1.0e-12))
    cosine = row_product(a, b, row) / norms
    if label[row] == 1:
        loss[row] = 1.0 - cosine
    elif label[row] == -1:
        loss[row] = wp.max(cosine - margin, 0.0)
    else:
        loss[row] = 0.0
