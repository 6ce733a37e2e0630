"""Gated sigmoid linear unit: out = gate / (1 + exp(-gate)) * x.

PyTorch: torch.nn.functional.silu(gate) * x
"""

import warp as wp


@wp.kernel
def swiglu(gate: wp.array(dtype=float), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = gate[i] / (1.0 + wp.exp(-gate[i])) * x[i]
