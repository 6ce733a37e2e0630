import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cub/cub.cuh>

template <typename T, int BLOCK>
__global__ void layer_norm_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                                  T* __restrict__ out, int n) {
    using BlockReduce = cub::BlockReduce<T, BLOCK>;
    __shared__ typename BlockReduce::TempStorage storage;
    __shared__ T mean, rstd;
    const T* row = x + (int64_t)blockIdx.x * n;
    T sum = 0;
    for (int j = threadIdx.x; j < n; j += BLOCK) sum += row[j];
    sum = BlockReduce(storage).Sum(sum);
    if (threadIdx.x == 0) mean = sum / n;
    __syncwarp();
    T squares = 0;
    for (int j = threadIdx.x; j < n; j += BLOCK) {
        const T d = row[j] - mean;
        squares += d * d;
    }
    squares = BlockReduce(storage).Sum(squares);
    if (threadIdx.x == 0) rstd = T(1) / sqrt(squares / n + T(1e-5));
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += BLOCK)
        out[(int64_t)blockIdx.x * n + j] = (row[j] - mean) * rstd * weight[j] + bias[j];
}

torch::Tensor layer_norm_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    auto out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "layer_norm_forward", [&] {
        layer_norm_kernel<scalar_t, 128><<<x.size(0), 128>>>(x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                                           bias.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.size(1));
    });
    return out;
}
"""

cpp_source = "torch::Tensor layer_norm_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);"

module = load_inline(
    name="layer_norm_cub",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["layer_norm_forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.layer_norm_forward(*tensors)
