import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void mm(const int8_t* __restrict__ a, const int8_t* __restrict__ b, int* __restrict__ c, int M, int N, int K) {
  const int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= M || j >= N) return;
  int s = 0, k = 0;
  if ((K & 3) == 0) {
    const int* pa = reinterpret_cast<const int*>(a + (size_t)i * K); const int* pb = reinterpret_cast<const int*>(b + (size_t)j * K);
    for (; k < K; k += 4) s = __dp4a(pa[k >> 2], pb[k >> 2], s);
  }
  for (; k < K; ++k) s += (int)a[(size_t)i * K + k] * (int)b[(size_t)j * K + k];
  c[(size_t)i * N + j] = s;
}
torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  const int M = a.size(0), N = b.size(0), K = a.size(1);
  auto c = torch::empty({M, N}, a.options().dtype(torch::kInt32));
  if (c.numel()) mm<<<dim3((N + 15) / 16, (M + 7) / 8), dim3(16, 8)>>>(a.data_ptr<int8_t>(), b.data_ptr<int8_t>(), c.data_ptr<int>(), M, N, K);
  return c;
}
"""

mod = load_inline(name="m", cpp_sources="torch::Tensor forward(torch::Tensor a, torch::Tensor b);", cuda_sources=cuda_source, functions=["forward"], extra_cuda_cflags=["-O3"])


class ModelNew(torch.nn.Module):
    def forward(self, *a):
        return mod.forward(*a)
