import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, epsilon: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * columns
    out_ptr += row * columns
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + j, mask=j < columns, other=0.0)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + j, mask=j < columns, other=0.0)
        centered = tl.where(j < columns, x - mean, 0.0)
        squares += centered * centered
    variance = tl.sum(squares, axis=0) / (columns - 1)
    scale = 1.0 / tl.sqrt(variance + epsilon)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        mask = j < columns
        weight = tl.load(weight_ptr + j, mask=mask)
        bias = tl.load(bias_ptr + j, mask=mask)
        x = tl.load(x_ptr + j, mask=mask, other=0.0)
        tl.store(out_ptr + j, (x - mean) * scale * weight + bias, mask=mask)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    layer_norm_kernel[(x.shape[0],)](x, weight, bias, out, x.shape[1], epsilon=1e-5, BLOCK=128)
    return out
