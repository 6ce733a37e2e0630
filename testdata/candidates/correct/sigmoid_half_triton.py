import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, (1.0 / (1.0 + tl.exp(-x))).to(tl.float16), mask=i < n)


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    sigmoid_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    return out
