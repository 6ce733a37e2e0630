import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void matvec_kernel(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const int row = blockIdx.x * 3 + threadIdx.y;
    float sum = 0.f;
    if (row < rows) {
        const float* a_row = a + static_cast<long long>(row) * cols;
        for (int j = threadIdx.x; j < cols; j += warpSize) sum += __ldg(&a_row[j]) * __ldg(&x[j]);
    }
    for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0 && row < rows) y[row] = sum;
}

torch::Tensor matvec(torch::Tensor a, torch::Tensor x) {
    auto y = torch::empty({a.size(0)}, a.options());
    const int rows = a.size(0), cols = a.size(1);
    if (rows == 0) return y;
    dim3 block(32, 4);
    matvec_kernel<<<(rows + 3) / 4, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
    return y;
}
"""

cpp_source = "torch::Tensor matvec(torch::Tensor a, torch::Tensor x);"

module = load_inline(
    name="matvec_warp",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["matvec"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.matvec(*tensors)
