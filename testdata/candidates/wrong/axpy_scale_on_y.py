import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void axpy_kernel(float alpha, const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + alpha * y[i];
}

torch::Tensor axpy(double alpha, torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    int n = x.numel();
    int threads = 192;
    int blocks = (n + threads - 1) / threads;
    axpy_kernel<<<blocks, threads>>>(static_cast<float>(alpha), x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

cpp_source = "torch::Tensor axpy(double alpha, torch::Tensor x, torch::Tensor y);"

module = load_inline(
    name="axpy_scalar",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["axpy"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.axpy(*tensors)
