import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

template <typename scalar_t>
__global__ void rope_kernel(torch::PackedTensorAccessor64<scalar_t, 2> x, torch::PackedTensorAccessor64<scalar_t, 2> cos,
                            torch::PackedTensorAccessor64<scalar_t, 2> sin, torch::PackedTensorAccessor64<scalar_t, 2> out) {
    const int half = cos.size(1);
    const int pos = blockIdx.x;
    if (const int j = threadIdx.x; j < half) {
        const scalar_t a = x[pos][j];
        const scalar_t b = x[pos][j + half];
        const scalar_t c = cos[pos][j];
        const scalar_t s = sin[pos][j];
        out[pos][j] = a * c - b * s;
        out[pos][j + half] = b * c + a * s;
    }
}

torch::Tensor apply_rope(torch::Tensor x, torch::Tensor cos, torch::Tensor sin) {
    TORCH_CHECK(x.dim() == 2 && cos.sizes() == sin.sizes(), "apply_rope: shapes do not match");
    TORCH_CHECK(x.size(1) == 2 * cos.size(1), "apply_rope: x must have twice the columns of cos");
    torch::Tensor out = torch::empty_like(x);
    if (x.size(0) == 0) return out;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "apply_rope", [&] {
        rope_kernel<scalar_t><<<x.size(0), 32>>>(x.packed_accessor64<scalar_t, 2>(), cos.packed_accessor64<scalar_t, 2>(),
                                                 sin.packed_accessor64<scalar_t, 2>(), out.packed_accessor64<scalar_t, 2>());
    });
    return out;
}
"""

rope = load_inline(
    name="rope",
    cpp_sources="torch::Tensor apply_rope(torch::Tensor x, torch::Tensor cos, torch::Tensor sin);",
    cuda_sources=cuda_source,
    functions=["apply_rope"],
    with_cuda=True,
)


class RotaryEmbedding(nn.Module):
    def forward(self, x, cos, sin):
        return rope.apply_rope(x, cos, sin)
