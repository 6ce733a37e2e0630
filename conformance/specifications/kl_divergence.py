"""Kullback-Leibler divergence of each row: loss[i] = sum of target * (log(target) - log_probability) over the row.

PyTorch: torch.nn.functional.kl_div(log_probability, target, reduction="none").sum(dim=1)
"""

import warp as wp


# domain: 0 < target <= 1
@wp.kernel
def kl_divergence(
    log_probability: wp.array2d(dtype=float), target: wp.array2d(dtype=float), loss: wp.array(dtype=float)
):
    row = wp.tid()
    total = float(0.0)
    for j in range(target.shape[1]):
        total += target[row, j] * (wp.log(target[row, j]) - log_probability[row, j])
    loss[row] = total
