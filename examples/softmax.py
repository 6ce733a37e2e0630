"""Softmax of each row, and the cross entropy against a label, with the row's maximum taken out."""

import numpy as np
import warp as wp


@wp.func
def row_maximum(logits: wp.array2d(dtype=float), row: int) -> float:
    largest = logits[row, 0]
    for column in range(1, logits.shape[1]):
        largest = wp.max(largest, logits[row, column])
    return largest


@wp.kernel
def softmax(logits: wp.array2d(dtype=float), probabilities: wp.array2d(dtype=float)):
    row = wp.tid()
    largest = row_maximum(logits, row)
    total = float(0.0)
    for column in range(logits.shape[1]):
        total += wp.exp(logits[row, column] - largest)
    for column in range(logits.shape[1]):
        probabilities[row, column] = wp.exp(logits[row, column] - largest) / total


# domain: 0 <= labels < logits.shape[1]
@wp.kernel
def cross_entropy(logits: wp.array2d(dtype=float), labels: wp.array(dtype=int), loss: wp.array(dtype=float)):
    row = wp.tid()
    largest = row_maximum(logits, row)
    total = float(0.0)
    for column in range(logits.shape[1]):
        total += wp.exp(logits[row, column] - largest)
    loss[row] = wp.log(total) + largest - logits[row, labels[row]]


if __name__ == "__main__":
    rows, columns = 4, 10
    rng = np.random.default_rng(11)
    logits = wp.array(rng.normal(scale=3.0, size=(rows, columns)), dtype=float)
    labels = wp.array(rng.integers(0, columns, rows), dtype=int)
    probabilities = wp.zeros((rows, columns), dtype=float)
    loss = wp.zeros(rows, dtype=float)
    wp.launch(softmax, dim=rows, inputs=[logits, probabilities])
    wp.launch(cross_entropy, dim=rows, inputs=[logits, labels, loss])
    print("rows sum to", probabilities.numpy().sum(axis=1), "mean loss", loss.numpy().mean())
