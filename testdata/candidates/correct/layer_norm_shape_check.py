import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

struct WelfordData {
    float mean;
    float m2;
    float count;
};

__device__ __forceinline__ WelfordData combine(WelfordData a, WelfordData b) {
    if (b.count == 0.0f) return a;
    float count = a.count + b.count;
    float delta = b.mean - a.mean;
    WelfordData r;
    r.mean = a.mean + delta * (b.count / count);
    r.m2 = a.m2 + b.m2 + delta * delta * (a.count * b.count / count);
    r.count = count;
    return r;
}

__device__ WelfordData warp_combine(WelfordData d) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        WelfordData other;
        other.mean = __shfl_down_sync(0xffffffffu, d.mean, offset);
        other.m2 = __shfl_down_sync(0xffffffffu, d.m2, offset);
        other.count = __shfl_down_sync(0xffffffffu, d.count, offset);
        d = combine(d, other);
    }
    return d;
}

__global__ void layer_norm_kernel(const float* x, const float* gamma, const float* beta, float* y, int n, float eps) {
    __shared__ WelfordData partial[32];
    __shared__ float s_mean, s_rstd;
    const float* row = x + blockIdx.x * (size_t)n;
    WelfordData d = {0.0f, 0.0f, 0.0f};
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        d.count += 1.0f;
        float delta = row[j] - d.mean;
        d.mean += delta / d.count;
        d.m2 += delta * (row[j] - d.mean);
    }
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    d = warp_combine(d);
    if (lane == 0) partial[warp] = d;
    __syncthreads();
    if (warp == 0) {
        const int warps = blockDim.x / 32;
        WelfordData none = {0.0f, 0.0f, 0.0f};
        d = lane < warps ? partial[lane] : none;
        d = warp_combine(d);
        if (lane == 0) {
            s_mean = d.mean;
            s_rstd = rsqrtf(d.m2 / n + eps);
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        y[blockIdx.x * (size_t)n + j] = (row[j] - s_mean) * s_rstd * gamma[j] + beta[j];
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta) {
    TORCH_CHECK(gamma.size(0) == x.size(-1));
    auto y = torch::empty_like(x);
    int n = x.size(-1);
    int rows = n > 0 ? x.numel() / n : 0;
    if (rows == 0) return y;
    layer_norm_kernel<<<rows, 128>>>(x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(),
                                     y.data_ptr<float>(), n, 1e-5f);
    return y;
}
"""

cpp_source = "torch::Tensor layer_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta);"

module = load_inline(
    name="layer_norm_shape_check",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["layer_norm"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.layer_norm(*tensors)
