"""Binary cross entropy: loss[0] = mean of log(1 + exp(logit)) - logit * target.

One thread computes the loss.

PyTorch: torch.nn.functional.binary_cross_entropy_with_logits(logit, target)
"""

import warp as wp


# domain: 0 <= target <= 1
@wp.kernel
def binary_cross_entropy_with_logits(
    logit: wp.array(dtype=float), target: wp.array(dtype=float), loss: wp.array(dtype=float)
):
    total = float(0.0)
    for i in range(logit.shape[0]):
        if logit[i] > 0.0:
            total += logit[i] + wp.log(1.0 + wp.exp(-logit[i])) - logit[i] * target[i]
        else:
            total += wp.log(1.0 + wp.exp(logit[i])) - logit[i] * target[i]
    loss[0] = total / float(logit.shape[0])
