"""Hinge loss: loss[0] = mean of max(1 - prediction * target, 0).

One thread computes the loss.

PyTorch: torch.clamp(1 - prediction * target, min=0).mean()
"""

import warp as wp


@wp.kernel
def hinge_loss(prediction: wp.array(dtype=float), target: wp.array(dtype=float), loss: wp.array(dtype=float)):
    total = float(0.0)
    for i in range(prediction.shape[0]):
        total += wp.max(1.0 - prediction[i] * target[i], 0.0)
    loss[0] = total / float(prediction.shape[0])
