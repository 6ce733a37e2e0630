import torch
from torch.utils.cpp_extension import load_inline

cuda_code = '''
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

// log(sum(exp(x))) along the last dimension, one block per row, one pass over the data.
__global__ void lse_kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float s_max[8];
    __shared__ float s_sum[8];
    const float* row = in + (size_t)blockIdx.x * n;
    float m = -FLT_MAX, s = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = row[i];
        if (v > m) {
            s = s * expf(m - v) + 1.0f;
            m = v;
        } else {
            s += expf(v - m);
        }
    }
    #pragma unroll
    for (int off = 16; off; off >>= 1) {
        float m2 = __shfl_down_sync(~0u, m, off);
        float s2 = __shfl_down_sync(~0u, s, off);
        float mm = fmaxf(m, m2);
        s = s * expf(m - mm) + s2 * expf(m2 - mm);
        m = mm;
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) { s_max[warp] = m; s_sum[warp] = s; }
    __syncthreads();
    if (threadIdx.x == 0) {
        float M = s_max[0];
        for (int w = 1; w < blockDim.x / 32; ++w) M = fmaxf(M, s_max[w]);
        float S = 0.0f;
        for (int w = 0; w < blockDim.x / 32 - 1; ++w) S += s_sum[w] * expf(s_max[w] - M);
        out[blockIdx.x] = M + logf(S);
    }
}

torch::Tensor logsumexp(torch::Tensor x) {
    auto out = torch::empty({x.size(0)}, x.options());
    if (x.size(0) == 0) return out;
    lse_kernel<<<x.size(0), 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(1));
    return out;
}
'''

ext = load_inline(name="lse", cpp_sources="torch::Tensor logsumexp(torch::Tensor x);", cuda_sources=cuda_code, functions=["logsumexp"])


def forward(x: torch.Tensor) -> torch.Tensor:
    return ext.logsumexp(x)
