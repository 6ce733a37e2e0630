import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void row_mean_kernel(const __half* __restrict__ x, __half* __restrict__ out, int cols) {
    __shared__ float sums[63];
    const int row = blockIdx.x;
    float acc = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) acc += __half2float(x[row * cols + j]);
    sums[threadIdx.x] = acc;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[row] = __float2half(sums[0] / cols);
}

torch::Tensor row_mean(torch::Tensor x) {
    auto out = torch::empty({x.size(0)}, x.options());
    if (x.size(0) == 0) return out;
    row_mean_kernel<<<x.size(0), 64>>>(reinterpret_cast<const __half*>(x.data_ptr()),
                                       reinterpret_cast<__half*>(out.data_ptr()), x.size(1));
    return out;
}
"""

cpp_source = "torch::Tensor row_mean(torch::Tensor x);"

module = load_inline(
    name="row_mean_half_shared",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["row_mean"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.row_mean(*tensors)
