import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_pipeline.h>

// Two stages in shared memory: the next tiles are copied asynchronously while the current ones are multiplied.
constexpr int T = 16;

__device__ void copy_tile(float (*tile)[T], const float* m, int row0, int rows, int k0, int k) {
    const int row = row0 + threadIdx.y, column = k0 + threadIdx.x;
    if (row < rows && column < k) __pipeline_memcpy_async(&tile[threadIdx.y][threadIdx.x], &m[row * k + column], sizeof(float));
    else tile[threadIdx.y][threadIdx.x] = 0.0f;
}

__global__ void matmul_nt(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float sa[2][T][T], sb[2][T][T];
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    float acc = 0.0f;
    copy_tile(sa[0], a, row0, m, 0, k);
    copy_tile(sb[0], b, col0, n, 0, k);
    __pipeline_commit();
    for (int k0 = 0, stage = 0; k0 < k; k0 += T, stage ^= 1) {
        if (k0 + T < k) {
            copy_tile(sa[stage ^ 1], a, row0, m, k0 + T, k);
            copy_tile(sb[stage ^ 1], b, col0, n, k0 + T, k);
        }
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        for (int t = 0; t < T; ++t) acc += sa[stage][threadIdx.y][t] * sb[stage][threadIdx.x][t];
        __syncthreads();
    }
    if (row0 + threadIdx.y < m && col0 + threadIdx.x < n) c[(row0 + threadIdx.y) * n + col0 + threadIdx.x] = acc;
}

torch::Tensor matmul_nt_cuda(torch::Tensor a, torch::Tensor b) {
    const int m = a.size(0), k = a.size(1), n = b.size(0);
    auto c = torch::empty({m, n}, a.options());
    if (c.numel() > 0) matmul_nt<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
    return c;
}
"""

module = load_inline("matmul_nt", "torch::Tensor matmul_nt_cuda(torch::Tensor a, torch::Tensor b);", cuda_source, functions=["matmul_nt_cuda"])
