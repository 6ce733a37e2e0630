"""Hard sigmoid: out = x / 6 + 1 / 2, limited to [0, 1].

PyTorch: torch.nn.functional.hardsigmoid(x)
"""

import warp as wp


# domain: -8 <= x <= 8
@wp.kernel
def hard_sigmoid(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.clamp(x[i] / 6.0 + 0.5, 0.0, 1.0)
