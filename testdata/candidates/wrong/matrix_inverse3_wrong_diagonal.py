import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void inverse(const float* __restrict__ a, float* __restrict__ y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float m[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) m[k] = a[9 * t + k] + (k % 3 == 0 ? 4.f : 0.f);
  const float c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
  const float r = 1.f / (m[0] * c0 + m[1] * c1 + m[2] * c2);
  float* o = y + 9 * t;
  o[0] = c0 * r; o[1] = (m[2] * m[7] - m[1] * m[8]) * r; o[2] = (m[1] * m[5] - m[2] * m[4]) * r;
  o[3] = c1 * r; o[4] = (m[0] * m[8] - m[2] * m[6]) * r; o[5] = (m[2] * m[3] - m[0] * m[5]) * r;
  o[6] = c2 * r; o[7] = (m[1] * m[6] - m[0] * m[7]) * r; o[8] = (m[0] * m[4] - m[1] * m[3]) * r;
}
torch::Tensor run(torch::Tensor a) {
  auto y = torch::empty_like(a);
  const int n = a.size(0);
  if (n > 0) inverse<<<(n + 63) / 64, 64>>>(a.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""

module = load_inline(
    name="matrix_inverse3_wrong_diagonal",
    cpp_sources=["torch::Tensor run(torch::Tensor a);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
