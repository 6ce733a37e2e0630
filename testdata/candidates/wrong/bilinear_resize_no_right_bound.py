import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void resize(const float* __restrict__ x, float* __restrict__ y, int h, int w, int oh, int ow) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= oh || j >= ow) return;
  float fy = fmaxf((i + 0.5f) * h / oh - 0.5f, 0.f);
  float fx = fmaxf((j + 0.5f) * w / ow - 0.5f, 0.f);
  const int y0 = (int)fy, x0 = (int)fx;
  const int y1 = min(y0 + 1, h - 1), x1 = x0 + 1;
  const float wy = fy - y0, wx = fx - x0;
  y[i * ow + j] = (x[y0 * w + x0] * (1.f - wx) + x[y0 * w + x1] * wx) * (1.f - wy) + (x[y1 * w + x0] * (1.f - wx) + x[y1 * w + x1] * wx) * wy;
}
void run(torch::Tensor x, torch::Tensor y) {
  const int oh = y.size(0), ow = y.size(1);
  if (y.numel() == 0) return;
  dim3 block(16, 8), grid((ow + 15) / 16, (oh + 7) / 8);
  resize<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1), oh, ow);
}
"""

module = load_inline(
    name="bilinear_resize_no_right_bound",
    cpp_sources=["void run(torch::Tensor x, torch::Tensor y);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
