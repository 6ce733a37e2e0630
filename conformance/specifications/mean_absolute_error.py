"""Mean absolute error: loss[0] = mean of |prediction - target|.

One thread computes the loss.

PyTorch: torch.nn.functional.l1_loss(prediction, target)
"""

import warp as wp


@wp.kernel
def mean_absolute_error(prediction: wp.array(dtype=float), target: wp.array(dtype=float), loss: wp.array(dtype=float)):
    total = float(0.0)
    for i in range(prediction.shape[0]):
        total += wp.abs(prediction[i] - target[i])
    loss[0] = total / float(prediction.shape[0])
