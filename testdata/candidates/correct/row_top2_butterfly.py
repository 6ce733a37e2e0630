import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__device__ void insert(float& a, float& b, float v) {
  if (v > a) { b = a; a = v; } else if (v > b) b = v;
}
__global__ void top2(const float* x, float* y, int n) {
  const int row = blockIdx.x;
  float a = -3.0e38f, b = -3.0e38f;
  for (int j = threadIdx.x; j < n; j += 32) insert(a, b, x[row * n + j]);
  for (int d = 16; d > 0; d >>= 1) {
    const float c = __shfl_xor_sync(0xffffffffu, a, d), e = __shfl_xor_sync(0xffffffffu, b, d);
    insert(a, b, c);
    insert(a, b, e);
  }
  if (threadIdx.x == 0) { y[2 * row] = a; y[2 * row + 1] = b; }
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 2}, x.options());
  if (x.size(0) > 0) top2<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""

module = load_inline(
    name="row_top2_butterfly",
    cpp_sources=["torch::Tensor run(torch::Tensor x);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
