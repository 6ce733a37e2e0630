"""Cross entropy of each row: loss[i] = log of the sum of exp(logits[i, j]) over j, minus logits[i, labels[i]].

The largest element of the row is subtracted first, so exp does not overflow.

PyTorch: torch.nn.functional.cross_entropy(logits, labels, reduction="none")
"""

import warp as wp


@wp.func
def row_max(logits: wp.array2d(dtype=float), row: int) -> float:
    largest = logits[row, 0]
    for j in range(1, logits.shape[1]):
        largest = wp.max(largest, logits[row, j])
    return largest


@wp.func
def exp_sum(logits: wp.array2d(dtype=float), row: int, shift: float) -> float:
    total = float(0.0)
    for j in range(logits.shape[1]):
        total += wp.exp(logits[row, j] - shift)
    return total


# domain: 0 <= labels < logits.shape[1]
@wp.kernel
def cross_entropy(logits: wp.array2d(dtype=float), labels: wp.array(dtype=wp.int64), loss: wp.array(dtype=float)):
    row = wp.tid()
    largest = row_max(logits, row)
    loss[row] = wp.log(exp_sum(logits, row, largest)) + largest - logits[row, int(labels[row])]
