import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

__global__ void row_sum_kernel(const float* x, float* out, int cols) {
    int row = blockIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float v = col < cols ? x[(size_t)row * cols + col] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    if ((threadIdx.x & 15) == 0) atomicAdd(out + row, v);
}

torch::Tensor row_sum(torch::Tensor x) {
    auto out = torch::zeros({x.size(0)}, x.options());
    if (x.numel() == 0) return out;
    dim3 grid((x.size(1) + 63) / 64, x.size(0));
    row_sum_kernel<<<grid, 64>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(1));
    return out;
}
"""

cpp_source = "torch::Tensor row_sum(torch::Tensor x);"

module = load_inline(
    name="row_sum_atomic",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["row_sum"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.row_sum(*tensors)
