import torch
import triton
import triton.language as tl


@triton.jit
def scatter_add_kernel(index_ptr, x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.load(total_ptr + index, mask=i < n)
    tl.store(total_ptr + index, total + x, mask=i < n)


def scatter_add(index: torch.Tensor, x: torch.Tensor, total: torch.Tensor) -> None:
    n = x.numel()
    scatter_add_kernel[(triton.cdiv(n, 128),)](index, x, total, n, BLOCK=128)
