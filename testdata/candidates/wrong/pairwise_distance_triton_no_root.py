import torch
import triton
import triton.language as tl


@triton.jit
def distance_kernel(a_ptr, b_ptr, out_ptr, rows, columns, inner, out_stride, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in range(0, inner):
        a = tl.load(a_ptr + i * inner + k, mask=i < rows, other=0.0)
        b = tl.load(b_ptr + j * inner + k, mask=j < columns, other=0.0)
        difference = a[:, None] - b[None, :]
        total += difference * difference
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tl.store(out_ptr + i[:, None] * out_stride + j[None, :], total, mask=mask)


def pairwise_distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty(a.shape[0], b.shape[0], device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[0], 16))
    distance_kernel[grid](a, b, out, a.shape[0], b.shape[0], a.shape[1], out.stride(0), TILE=16)
    return out
