import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void gemv_int8(const float* __restrict__ x, const int8_t* __restrict__ q, const float* __restrict__ scale, float* __restrict__ y, int m, int n, int k) {
  const int j = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, i = blockIdx.y, lane = threadIdx.x % 32;
  if (j >= n) return;
  float s = 0.f;
  const int8_t* row = q + (size_t)j * k;
  if (k % 4 == 0) {
    for (int c = lane; c < k / 4; c += 32) {
      const char4 w = reinterpret_cast<const char4*>(row)[c];
      const float4 v = reinterpret_cast<const float4*>(x + (size_t)i * k)[c];
      s += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
    }
  } else {
    for (int c = lane; c < k - 1; c += 32) s += x[i * k + c] * row[c];
  }
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[i * n + j] = s * scale[j];
}
torch::Tensor run(torch::Tensor x, torch::Tensor q, torch::Tensor scale) {
  const int m = x.size(0), k = x.size(1), n = q.size(0);
  auto y = torch::empty({m, n}, x.options());
  if (m > 0 && n > 0) gemv_int8<<<dim3((n + 3) / 4, m), 128>>>(x.data_ptr<float>(), q.data_ptr<int8_t>(), scale.data_ptr<float>(), y.data_ptr<float>(), m, n, k);
  return y;
}
"""

module = load_inline(
    name="dequantized_linear_last_weight_lost",
    cpp_sources=["torch::Tensor run(torch::Tensor x, torch::Tensor q, torch::Tensor scale);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
