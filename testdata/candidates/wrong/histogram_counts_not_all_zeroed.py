import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void histogram(const int* label, int* count, int n, int bins) {
  extern __shared__ int local[];
  for (int b = threadIdx.x; b < bins; b += bins) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[label[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (local[b] > 0) atomicAdd(&count[b], local[b]);
}
void run(torch::Tensor label, torch::Tensor count) {
  const int n = label.numel(), bins = count.numel();
  const int blocks = std::min(4, (n + 127) / 128);
  if (n > 0) histogram<<<blocks, 128, bins * sizeof(int)>>>(label.data_ptr<int>(), count.data_ptr<int>(), n, bins);
}
"""

module = load_inline(
    name="histogram_counts_not_all_zeroed",
    cpp_sources=["void run(torch::Tensor label, torch::Tensor count);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
