import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
struct Pair { float a, b; };
__device__ Pair combine(Pair x, Pair y) { return {x.a * y.a, y.a * x.b + y.b}; }
__global__ void scan(const float* a, const float* b, float* h, int n) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float carry = 0.f;
  for (int base = 0; base < n; base += 32) {
    const int t = base + lane;
    Pair p = t < n ? Pair{a[row * n + t], b[row * n + t]} : Pair{1.f, 0.f};
    for (int d = 1; d < 32; d <<= 1) {
      Pair q{__shfl_up_sync(0xffffffff, p.a, d), __shfl_up_sync(0xffffffff, p.b, d)};
      if (lane >= d) p = combine(q, p);
    }
    const float s = p.a * carry + p.b;
    if (t < n) h[row * n + t] = s;
    carry = __shfl_sync(0xffffffff, s, 30);
  }
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
  auto h = torch::empty_like(a);
  if (a.numel() > 0) scan<<<a.size(0), 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), h.data_ptr<float>(), a.size(1));
  return h;
}
"""

module = load_inline(
    name="linear_recurrence_carry_of_lane_30",
    cpp_sources=["torch::Tensor run(torch::Tensor a, torch::Tensor b);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
