"""Huber loss: loss[0] = mean of d^2 / 2 if d <= delta, else delta * (d - delta / 2), with d = |prediction - target|.

One thread computes the loss.

PyTorch: torch.nn.functional.huber_loss(prediction, target, delta=delta)
"""

import warp as wp


# domain: 0.5 <= delta <= 2
@wp.kernel
def huber_loss(
    prediction: wp.array(dtype=float), target: wp.array(dtype=float), delta: float, loss: wp.array(dtype=float)
):
    total = float(0.0)
    for i in range(prediction.shape[0]):
        d = wp.abs(prediction[i] - target[i])
        if d <= delta:
            total += 0.5 * d * d
        else:
            total += delta * (d - 0.5 * delta)
    loss[0] = total / float(prediction.shape[0])
