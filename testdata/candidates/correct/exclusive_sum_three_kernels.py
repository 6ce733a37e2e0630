import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
constexpr int B = 16;
__global__ void blocks(const int* x, int* y, int* sums, int n) {
  __shared__ int s[B];
  const int i = blockIdx.x * B + threadIdx.x;
  const int v = i < n ? x[i] : 0;
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 1; d < B; d *= 2) {
    const int t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += t;
    __syncthreads();
  }
  if (i < n) y[i] = s[threadIdx.x] - v;
  if (threadIdx.x == B - 1) sums[blockIdx.x] = s[B - 1];
}
__global__ void scan_sums(int* sums, int m) {
  if (threadIdx.x == 0) { int c = 0; for (int b = 0; b < m; ++b) { const int t = sums[b]; sums[b] = c; c += t; } }
}
__global__ void add(int* y, const int* sums, int n) {
  const int i = blockIdx.x * B + threadIdx.x;
  if (i < n) y[i] += sums[blockIdx.x];
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int n = x.numel(), m = (n + B - 1) / B;
  if (n == 0) return y;
  auto sums = torch::empty({m}, x.options());
  blocks<<<m, B>>>(x.data_ptr<int>(), y.data_ptr<int>(), sums.data_ptr<int>(), n);
  scan_sums<<<1, 32>>>(sums.data_ptr<int>(), m);
  add<<<m, B>>>(y.data_ptr<int>(), sums.data_ptr<int>(), n);
  return y;
}
"""

module = load_inline(
    name="exclusive_sum_three_kernels",
    cpp_sources=["torch::Tensor run(torch::Tensor x);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
