import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, mask_ptr, out_ptr, p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.load(mask_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.where(keep != 0, x, 0.0), mask=i < n)


def dropout(x: torch.Tensor, mask: torch.Tensor, p: float) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    dropout_kernel[(triton.cdiv(n, 512),)](x, mask, out, p, n, BLOCK=512)
    return out
