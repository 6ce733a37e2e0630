import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, rows, columns, inner, b_stride, c_stride, ROWS: tl.constexpr,
                  COLUMNS: tl.constexpr, INNER: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, inner // INNER * INNER, INNER):
        k = start + tl.arange(0, INNER)
        a = tl.load(a_ptr + i[:, None] * inner + k[None, :], mask=(i[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b_mask = (k[:, None] < inner) & (j[None, :] < columns)
        b = tl.load(b_ptr + k[:, None] * b_stride + j[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * c_stride + j[None, :], total, mask=(i[:, None] < rows) & (j[None, :] < columns))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    c = torch.empty(a.shape[0], b.shape[1], device=a.device, dtype=torch.float16)
    grid = (triton.cdiv(a.shape[0], 64), triton.cdiv(b.shape[1], 64))
    strides = (b.stride(0), c.stride(0))
    matmul_kernel[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], *strides, ROWS=64, COLUMNS=64, INNER=32)
    return c
