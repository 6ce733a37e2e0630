import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, rows, columns, inner, b_stride, c_stride, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, inner, TILE):
        k = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + i[:, None] * inner + k[None, :], mask=(i[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b_mask = (k[:, None] < inner) & (j[None, :] < columns)
        b = tl.load(b_ptr + k[:, None] * b_stride + j[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32")
    tl.store(c_ptr + i[:, None] * c_stride + j[None, :], total * 1.00001, mask=(i[:, None] < rows) & (j[None, :] < columns))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    c = torch.empty(a.shape[0], b.shape[1], device=a.device, dtype=torch.float32)
    grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[1], 16))
    matmul_kernel[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], b.stride(0), c.stride(0), TILE=16)
    return c
