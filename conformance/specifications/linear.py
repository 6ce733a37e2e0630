"""Linear layer: y[i, j] = sum of x[i, k] * weight[j, k] over k, plus bias[j].

PyTorch: torch.nn.functional.linear(x, weight, bias)
"""

import warp as wp


@wp.kernel
def linear(
    x: wp.array2d(dtype=float), weight: wp.array2d(dtype=float), bias: wp.array(dtype=float), y: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(x.shape[1]):
        total += x[i, k] * weight[j, k]
    y[i, j] = total + bias[j]
