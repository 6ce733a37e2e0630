import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    mask = j < columns
    x = tl.load(x_ptr + row * columns + j, mask=mask, other=-float("inf"))
    largest = tl.max(x, axis=0)
    tl.store(out_ptr + row, tl.log2(tl.sum(tl.exp2((x - largest) * 1.4427), axis=0)) * 0.6931471805599453 + largest)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape[0], device=x.device)
    logsumexp_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
