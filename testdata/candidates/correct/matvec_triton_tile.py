import torch
import triton
import triton.language as tl


@triton.jit
def matvec_kernel(a_ptr, x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    sums = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        mask = (i[:, None] < rows) & (j[None, :] < columns)
        a = tl.load(a_ptr + i[:, None] * columns + j[None, :], mask=mask, other=0.0)
        x = tl.load(x_ptr + j, mask=j < columns, other=0.0)
        sums += a * x[None, :]
    tl.store(y_ptr + i, tl.sum(sums, axis=1), mask=i < rows)


def matvec(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(a.shape[0], device=a.device, dtype=a.dtype)
    matvec_kernel[(triton.cdiv(a.shape[0], 8),)](a, x, y, *a.shape, ROWS=8, BLOCK=64)
    return y
