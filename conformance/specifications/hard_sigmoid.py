"""Hard sigmoid: out = (x + 3) / 6, with x + 3 limited to [0, 6].

PyTorch: torch.nn.functional.hardsigmoid(x)
"""

import warp as wp


# domain: -8 <= x <= 8
@wp.kernel
def hard_sigmoid(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.clamp(x[i] + 3.0, 0.0, 6.0) / 6.0
