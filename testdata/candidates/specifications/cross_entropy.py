import warp as wp


# domain: 0 <= labels < logits.shape[1]
@wp.kernel
def cross_entropy(logits: wp.array2d(dtype=float), labels: wp.array(dtype=wp.int64), loss: wp.array(dtype=float)):
    row = wp.tid()
    largest = logits[row, 0]
    for j in range(1, logits.shape[1]):
        largest = wp.max(largest, logits[row, j])
    total = float(0.0)
    for j in range(logits.shape[1]):
        total += wp.exp(logits[row, j] - largest)
    loss[row] = wp.log(total) + largest - logits[row, int(labels[row])]
