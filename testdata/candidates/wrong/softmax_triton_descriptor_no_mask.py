import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x_map = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    out_map = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    row = tl.program_id(0) * ROWS
    x = x_map.load([row, 0])
    numerator = tl.exp(x - tl.max(x, 1)[:, None])
    out_map.store([row, 0], numerator / tl.sum(numerator, 1)[:, None])


def softmax(x: torch.Tensor) -> torch.Tensor:
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    out = torch.empty_like(x)
    softmax_kernel[(triton.cdiv(x.shape[0], 4),)](x, out, *x.shape, ROWS=4, COLUMNS=128)
    return out
