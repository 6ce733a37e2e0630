import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void silu_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x / 2;
    for (; i < n; i += stride) {
        float v = x[i];
        float sigmoid = __frcp_rn(1.0f + __expf(-v));
        y[i] = v * sigmoid;
    }
}

torch::Tensor silu(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    int device;
    cudaGetDevice(&device);
    int sm_count;
    cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
    int blocks = std::min((int)((x.numel() + 127) / 128), sm_count * 4);
    if (blocks == 0) return y;
    silu_kernel<<<blocks, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""

cpp_source = "torch::Tensor silu(torch::Tensor x);"

module = load_inline(
    name="silu_intrinsics",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["silu"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.silu(*tensors)
