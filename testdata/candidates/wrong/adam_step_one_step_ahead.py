import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void adam(const float* g, float* m, float* v, float* p, float lr, float c1, float c2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float gi = g[i];
  const float mi = 0.9f * m[i] + 0.1f * gi;
  const float vi = 0.999f * v[i] + 0.001f * gi * gi;
  m[i] = mi;
  v[i] = vi;
  p[i] -= lr * (mi / c1) / (sqrtf(vi / c2) + 1e-8f);
}
void run(torch::Tensor g, torch::Tensor m, torch::Tensor v, torch::Tensor p, double lr, int64_t step) {
  const int n = g.numel();
  const float c1 = 1.0 - std::pow(0.9, (double)step), c2 = 1.0 - std::pow(0.999, (double)(step + 1));
  if (n > 0) adam<<<(n + 255) / 256, 256>>>(g.data_ptr<float>(), m.data_ptr<float>(), v.data_ptr<float>(), p.data_ptr<float>(), lr, c1, c2, n);
}
"""

module = load_inline(
    name="adam_step_one_step_ahead",
    cpp_sources=[
        "void run(torch::Tensor g, torch::Tensor m, torch::Tensor v, torch::Tensor p, double lr, int64_t step);"
    ],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
