import torch
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(x_ptr, cosine_ptr, sine_ptr, out_ptr, columns, x_stride, half, out_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        mask = j < columns
        cosine = tl.load(cosine_ptr + i * half + j, mask=mask)
        sine = tl.load(sine_ptr + i * half + j, mask=mask)
        a = tl.load(x_ptr + i * x_stride + j, mask=mask)
        b = tl.load(x_ptr + i * x_stride + j + half, mask=mask)
        tl.store(out_ptr + i * out_stride + j, a * cosine - b * sine, mask=mask)
        tl.store(out_ptr + i * out_stride + j + half, b * cosine - a * sine, mask=mask)


def rotary(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    half = cosine.shape[1]
    rotary_kernel[(x.shape[0],)](x, cosine, sine, out, half, x.stride(0), half, out.stride(0), BLOCK=128)
    return out
