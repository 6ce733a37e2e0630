"""Hard tanh: out = x, limited to [low, high].

PyTorch: torch.nn.functional.hardtanh(x, low, high)
"""

import warp as wp


# domain: low <= high
@wp.kernel
def hard_tanh(x: wp.array(dtype=float), low: float, high: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.clamp(x[i], low, high)
