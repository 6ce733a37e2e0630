import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

// The exponentials of a row stay in 60 KiB of shared memory; longer rows are computed again.
constexpr int kCached = 15 * 1024;

__device__ float reduce(float v, float* scratch, bool is_max) {
    for (int o = 16; o; o >>= 1) {
        const float other = __shfl_xor_sync(0xffffffffu, v, o);
        v = is_max ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    v = scratch[0];
    for (int w = 1; w < blockDim.x / 32; ++w) v = is_max ? fmaxf(v, scratch[w]) : v + scratch[w];
    return v;
}

__global__ void softmax_kernel(const float* x, float* y, int n) {
    extern __shared__ float cached[];
    __shared__ float scratch[8];
    const float* in = x + (int64_t)blockIdx.x * n;
    float m = -INFINITY;
    for (int j = threadIdx.x; j < n; j += blockDim.x) m = fmaxf(m, in[j]);
    m = reduce(m, scratch, true);
    float s = 0.f;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const float e = expf(in[j] - m);
        if (j < kCached) cached[j] = e;
        s += e;
    }
    s = reduce(s, scratch, false);
    for (int j = threadIdx.x; j < n; j += blockDim.x) y[(int64_t)blockIdx.x * n + j] = (j < kCached ? cached[j] : expf(in[j] - m)) / s;
}

torch::Tensor softmax(torch::Tensor x) {
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    auto y = torch::empty_like(x);
    if (x.size(0) == 0) return y;
    const size_t bytes = kCached * sizeof(float);
    softmax_kernel<<<x.size(0), 256, bytes, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    TORCH_CHECK(cudaGetLastError() == cudaSuccess, "softmax failed");
    return y;
}
"""

module = load_inline("softmax_large_shared", "torch::Tensor softmax(torch::Tensor x);", cuda_source, functions=["softmax"])
