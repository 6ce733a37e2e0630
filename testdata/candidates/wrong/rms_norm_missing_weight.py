import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SRC = '''
#include <torch/extension.h>
#include <cuda_runtime.h>

// Loads four values at a time where the row starts at a multiple of 16 bytes.
__global__ void rms_norm_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int n) {
    __shared__ float warp_sums[8];
    const float* row = x + (size_t)blockIdx.x * n;
    float* out = y + (size_t)blockIdx.x * n;
    const bool aligned = n % 4 == 0;
    float sum = 0.0f;
    const int n4 = aligned ? n / 4 : 0;
    for (int j = threadIdx.x; j < n4; j += blockDim.x) {
        const float4 v = reinterpret_cast<const float4*>(row)[j];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int j = 4 * n4 + threadIdx.x; j < n; j += blockDim.x) sum += row[j] * row[j];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    float total = 0.0f;
    for (int k = 0; k < 8; ++k) total += warp_sums[k];
    const float scale = rsqrtf(total / n + 1e-5f);
    for (int j = threadIdx.x; j < n4; j += blockDim.x) {
        float4 v = reinterpret_cast<const float4*>(row)[j];
        const float4 g = reinterpret_cast<const float4*>(w)[j];
        v.x *= scale * g.x;
        v.y *= scale * g.y;
        v.z *= scale * g.z;
        v.w *= scale * g.z;
        reinterpret_cast<float4*>(out)[j] = v;
    }
    for (int j = 4 * n4 + threadIdx.x; j < n; j += blockDim.x) out[j] = row[j] * scale * w[j];
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w) {
    auto y = torch::empty_like(x);
    if (x.numel() == 0) return y;
    rms_norm_kernel<<<x.size(0), 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
'''
CPP_SRC = "torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w);"

SOURCES = [CUDA_SRC]

module = load_inline("rms_norm_float4", [CPP_SRC], SOURCES, functions="rms_norm", extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.rms_norm(*tensors)
