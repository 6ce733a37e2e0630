import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void csr_vector(const int* __restrict__ start, const int* __restrict__ column, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0.f;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += values[k] * __ldg(x + column[k]);
  for (int offset = 8; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}
torch::Tensor run(torch::Tensor start, torch::Tensor column, torch::Tensor values, torch::Tensor x) {
  const int rows = start.size(0) - 1;
  auto y = torch::empty({rows}, values.options());
  if (rows > 0) csr_vector<<<(rows + 3) / 4, 128>>>(start.data_ptr<int>(), column.data_ptr<int>(), values.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), rows);
  return y;
}
"""

module = load_inline(
    name="csr_matvec_half_warp_sum",
    cpp_sources=[
        "torch::Tensor run(torch::Tensor start, torch::Tensor column, torch::Tensor values, torch::Tensor x);"
    ],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
