import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=-float("inf"))
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new_largest) + tl.sum(tl.exp(x - new_largest), axis=0)
        largest = new_largest
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + j, mask=j < columns)
        tl.store(out_ptr + row * columns + j, tl.exp(x - largest) / total, mask=j < columns)


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
    return out
