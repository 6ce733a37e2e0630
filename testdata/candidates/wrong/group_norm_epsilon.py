import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_src = """
torch::Tensor group_norm_cuda(torch::Tensor x, int64_t num_groups, torch::Tensor gamma, torch::Tensor beta);
"""

cuda_src = """
#include <torch/extension.h>
#include <cuda_runtime.h>

struct Moments {
    float mean;
    float m2;
    float count;
};

__device__ __forceinline__ Moments combine(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.f) return a;
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ __forceinline__ Moments shuffle_down(Moments m, int offset) {
    return {__shfl_down_sync(0xffffffff, m.mean, offset), __shfl_down_sync(0xffffffff, m.m2, offset),
            __shfl_down_sync(0xffffffff, m.count, offset)};
}

template <int THREADS>
__global__ void group_norm_kernel(const float* __restrict__ x, const float* __restrict__ gamma,
                                  const float* __restrict__ beta, float* __restrict__ y, int groups,
                                  int channels_per_group, int hw, float eps) {
    __shared__ Moments warp_moments[THREADS / 32];
    const int group = blockIdx.x % groups;
    const int size = channels_per_group * hw;
    const float* in = x + (size_t)blockIdx.x * size;
    float* out = y + (size_t)blockIdx.x * size;

    Moments m{0.f, 0.f, 0.f};
    for (int i = threadIdx.x; i < size; i += THREADS) {
        const float value = in[i];
        m.count += 1.f;
        const float delta = value - m.mean;
        m.mean += delta / m.count;
        m.m2 += delta * (value - m.mean);
    }
    for (int offset = 16; offset > 0; offset >>= 1) m = combine(m, shuffle_down(m, offset));
    if (threadIdx.x % 32 == 0) warp_moments[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; ++w) m = combine(m, warp_moments[w]);
        warp_moments[0] = m;
    }
    __syncthreads();
    const float mean = warp_moments[0].mean;
    const float rstd = rsqrtf(warp_moments[0].m2 / size + eps);
    for (int i = threadIdx.x; i < size; i += THREADS) {
        const int c = group * channels_per_group + i / hw;
        out[i] = (in[i] - mean) * rstd * gamma[c] + beta[c];
    }
}

torch::Tensor group_norm_cuda(torch::Tensor x, int64_t num_groups, torch::Tensor gamma, torch::Tensor beta) {
    auto y = torch::empty_like(x);
    const int N = x.size(0), C = x.size(1), HW = x.size(2) * x.size(3);
    if (x.numel() == 0) return y;
    group_norm_kernel<128><<<N * num_groups, 128>>>(
        x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(),
        num_groups, C / num_groups, HW, 1e-6f);
    return y;
}
"""

group_norm_ext = load_inline(
    name="group_norm_welford", cpp_sources=cpp_src, cuda_sources=cuda_src, functions=["group_norm_cuda"], verbose=True
)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, num_groups: int):
        super().__init__()
        self.gn = nn.GroupNorm(num_groups=num_groups, num_channels=num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return group_norm_ext.group_norm_cuda(x, self.gn.num_groups, self.gn.weight, self.gn.bias)
