import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
constexpr int T = 8;
__global__ void life(const int* x, int* y, int h, int w) {
  __shared__ int s[T + 2][T + 2];
  const int i0 = blockIdx.y * T, j0 = blockIdx.x * T;
  for (int k = threadIdx.y * T + threadIdx.x; k < (T + 2) * (T + 2); k += T * T) {
    const int a = k / (T + 2), b = k % (T + 2);
    s[a][b] = x[((i0 + a - 1 + h) % h) * w + (j0 + b - 1 + w) % w] & 1;
  }
  const int i = i0 + threadIdx.y, j = j0 + threadIdx.x;
  if (i >= h || j >= w) return;
  int n = -s[threadIdx.y + 1][threadIdx.x + 1];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) n += s[threadIdx.y + a][threadIdx.x + b];
  y[i * w + j] = n == 3 || (n == 2 && s[threadIdx.y + 1][threadIdx.x + 1]);
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int h = x.size(0), w = x.size(1);
  if (x.numel() > 0) life<<<dim3((w + T - 1) / T, (h + T - 1) / T), dim3(T, T)>>>(x.data_ptr<int>(), y.data_ptr<int>(), h, w);
  return y;
}
"""

module = load_inline(
    name="game_of_life_missing_barrier",
    cpp_sources=["torch::Tensor run(torch::Tensor x);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
