import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

__global__ void cumsum_kernel(const float* x, float* out, int rows, int cols) {
    const unsigned full = 0xffffffff;
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    float carry = 0.0f;
    for (int start = 0; start < cols; start += 32) {
        const int j = start + lane;
        float v = j < cols ? x[row * cols + j] : 0.0f;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const float left = __shfl_up_sync(full, v, d);
            v += left;
        }
        v += carry;
        if (j < cols) out[row * cols + j] = v;
        carry = __shfl_sync(full, v, 31);
    }
}

std::tuple<torch::Tensor> cumsum(torch::Tensor x) {
    auto out = torch::empty_like(x);
    const int rows = x.size(0);
    if (rows > 0) cumsum_kernel<<<(rows + 1) / 2, 64>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, x.size(1));
    return std::make_tuple(out);
}
"""

cpp_source = "std::tuple<torch::Tensor> cumsum(torch::Tensor x);"

module = load_inline(
    name="cumulative_sum_warp_scan",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["cumsum"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.cumsum(*tensors)
