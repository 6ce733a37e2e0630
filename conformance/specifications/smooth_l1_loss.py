"""Smooth L1 loss: loss[0] = mean of d^2 / (2 * beta) if d < beta, else d - beta / 2, with d = |prediction - target|.

One thread computes the loss.

PyTorch: torch.nn.functional.smooth_l1_loss(prediction, target, beta=beta)
"""

import warp as wp


# domain: 0.5 <= beta <= 2
@wp.kernel
def smooth_l1_loss(
    prediction: wp.array(dtype=float), target: wp.array(dtype=float), beta: float, loss: wp.array(dtype=float)
):
    total = float(0.0)
    for i in range(prediction.shape[0]):
        d = wp.abs(prediction[i] - target[i])
        if d < beta:
            total += 0.5 * d * d / beta
        else:
            total += d - 0.5 * beta
    loss[0] = total / float(prediction.shape[0])
