import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

template <typename scalar_t>
__global__ void max_pool1d_kernel(const torch::PackedTensorAccessor64<scalar_t, 2> input,
                                  torch::PackedTensorAccessor64<scalar_t, 2> output, int kernel_size, int stride) {
    const int64_t o = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = blockIdx.y;
    if (o >= output.size(1)) return;
    scalar_t best = -INFINITY;
    for (int k = 0; k < kernel_size; ++k) {
        const scalar_t v = input[row][o * stride + k];
        best = v > best ? v : best;
    }
    output[row][o] = best;
}

void max_pool1d(torch::Tensor input, torch::Tensor output) {
    if (output.numel() == 0) return;
    const dim3 grid((output.size(1) + 31) / 32, output.size(0));
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "max_pool1d", ([&] {
        max_pool1d_kernel<scalar_t><<<grid, 32>>>(input.packed_accessor64<scalar_t, 2>(),
                                                  output.packed_accessor64<scalar_t, 2>(), 2, 2);
    }));
}
"""

cpp_source = "void max_pool1d(torch::Tensor input, torch::Tensor output);"

module = load_inline(
    name="max_pool_accessor",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["max_pool1d"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.max_pool1d(*tensors)
