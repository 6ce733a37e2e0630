import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
using namespace torch;

__global__ void transpose_kernel(const PackedTensorAccessor32<float, 2> in, PackedTensorAccessor32<float, 2> out) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < in.size(0) && j < in.size(1)) out[(i * in.size(1) + j) / in.size(0)][(i * in.size(1) + j) % in.size(0)] = in[i][j];
}

void transpose_forward(const Tensor& in, Tensor out) {
    if (in.numel() == 0) return;
    const dim3 block(16, 16);
    const dim3 grid((in.size(1) + 15) / 16, (in.size(0) + 15) / 16);
    transpose_kernel<<<grid, block>>>(in.packed_accessor32<float, 2>(), out.packed_accessor32<float, 2>());
}
"""

cpp_source = "void transpose_forward(const torch::Tensor& in, torch::Tensor out);"

module = load_inline(
    name="transpose_accessor",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["transpose_forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.transpose_forward(*tensors)
