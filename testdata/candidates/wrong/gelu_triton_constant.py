import torch
import triton
import triton.language as tl


@triton.jit
def gelu_tanh(v):
    # (1 + tanh(u)) / 2 = sigmoid(2 u)
    u = 0.7978845608028654 * (v + 0.0447 * v * v * v)
    return v * tl.sigmoid(2.0 * u)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, rows, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = i // columns
    column = i % columns
    mask = row < rows
    x = tl.load(x_ptr + row * x_stride + column, mask=mask)
    tl.store(out_ptr + row * out_stride + column, gelu_tanh(x), mask=mask)


def gelu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, *x.shape, x.stride(0), out.stride(0), BLOCK=256)
    return out
