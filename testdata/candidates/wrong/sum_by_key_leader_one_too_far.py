import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void segmented(const int* key, const float* x, float* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const int k = i < n ? key[i] : -1;
  float s = i < n ? x[i] : 0.f;
  const unsigned peers = __match_any_sync(0xffffffff, k);
  const int leader = __ffs(peers);
  float sum = 0.f;
  for (int b = 0; b < 32; ++b) {
    const float other = __shfl_sync(0xffffffff, s, b);
    if (peers >> b & 1) sum += other;
  }
  if (lane == leader && k >= 0) atomicAdd(&total[k], sum);
}
void run(torch::Tensor key, torch::Tensor x, torch::Tensor total) {
  const int n = key.numel();
  if (n > 0) segmented<<<(n + 127) / 128, 128>>>(key.data_ptr<int>(), x.data_ptr<float>(), total.data_ptr<float>(), n);
}
"""

module = load_inline(
    name="sum_by_key_leader_one_too_far",
    cpp_sources=["void run(torch::Tensor key, torch::Tensor x, torch::Tensor total);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
