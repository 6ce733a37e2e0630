import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__constant__ float coefficients[64];
__global__ void horner(const float4* x, float4* y, int n4, int degree, const float* xs, float* ys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    const float4 v = x[i];
    float4 s = make_float4(0, 0, 0, 0);
    for (int k = 0; k < degree; ++k) {
      const float c = coefficients[k];
      s.x = fmaf(s.x, v.x, c); s.y = fmaf(s.y, v.y, c); s.z = fmaf(s.z, v.z, c); s.w = fmaf(s.w, v.w, c);
    }
    y[i] = s;
  }
  const int t = 4 * n4 + i;
  if (t < n) {
    float s = 0.f;
    for (int k = 0; k < degree; ++k) s = fmaf(s, xs[t], coefficients[k]);
    ys[t] = s;
  }
}
__global__ void naive(const float* x, const float* c, float* y, int n, int degree) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.f;
  for (int k = 0; k < degree; ++k) s = fmaf(s, x[i], c[k]);
  y[i] = s;
}
torch::Tensor run(torch::Tensor x, torch::Tensor c) {
  auto y = torch::empty_like(x);
  const int n = x.numel(), degree = c.numel();
  if (n == 0) return y;
  if (degree > 64) {
    naive<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), c.data_ptr<float>(), y.data_ptr<float>(), n, degree);
    return y;
  }
  cudaMemcpyToSymbol(coefficients, c.data_ptr<float>(), degree * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  horner<<<(n / 4 + 127) / 128, 128>>>((const float4*)x.data_ptr<float>(), (float4*)y.data_ptr<float>(), n / 4, degree, x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""

module = load_inline(
    name="polynomial_no_block_for_the_tail",
    cpp_sources=["torch::Tensor run(torch::Tensor x, torch::Tensor c);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
