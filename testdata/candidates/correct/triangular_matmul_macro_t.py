import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

#define T 16
__global__ void trmm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int K, int N) {
  __shared__ float As[T][T + 1], Bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float acc = 0.f;
  const int last = min(blockIdx.y + 1, (K + T - 1) / T);
  for (int t = 0; t < last; ++t) {
    const int ka = t * T + threadIdx.x, kb = t * T + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka <= row && ka < K ? a[row * K + ka] : 0.f;
    Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? b[kb * N + col] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k) acc = fmaf(As[threadIdx.y][k], Bs[k][threadIdx.x], acc);
    __syncthreads();
  }
  if (row < M && col < N) c[row * N + col] = acc;
}
torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  const int M = a.size(0), K = a.size(1), N = b.size(1);
  auto c = torch::empty({M, N}, a.options());
  if (c.numel()) trmm<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, K, N);
  return c;
}
"""

mod = load_inline(name="m", cpp_sources="torch::Tensor forward(torch::Tensor a, torch::Tensor b);", cuda_sources=cuda_source, functions=["forward"], extra_cuda_cflags=["-O3"])


class ModelNew(torch.nn.Module):
    def forward(self, *a):
        return mod.forward(*a)
