import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void bitonic(const float* x, float* y, int n, int size) {
  extern __shared__ float s[];
  const int row = blockIdx.x;
  for (int j = threadIdx.x; j < size; j += blockDim.x) s[j] = j < n ? x[row * n + j] : INFINITY;
  __syncthreads();
  for (int k = 2; k <= size; k <<= 1) {
    for (int d = k >> 1; d > 0; d >>= 1) {
      for (int j = threadIdx.x; j < size; j += blockDim.x) {
        const int other = j ^ d;
        if (other > j) {
          const bool up = (j & (k << 1)) == 0;
          const float a = s[j], b = s[other];
          if ((a > b) == up) { s[j] = b; s[other] = a; }
        }
      }
      __syncthreads();
    }
  }
  for (int j = threadIdx.x; j < n; j += blockDim.x) y[row * n + j] = s[j];
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int rows = x.size(0), n = x.size(1);
  int size = 1;
  while (size < n) size *= 2;
  if (x.numel() > 0) bitonic<<<rows, 64, size * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, size);
  return y;
}
"""

module = load_inline(
    name="row_sort_wrong_direction",
    cpp_sources=["torch::Tensor run(torch::Tensor x);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
