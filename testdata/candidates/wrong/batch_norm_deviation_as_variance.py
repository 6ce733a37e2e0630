import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

// blockIdx.y is the channel; (x - mean) / std * w + b with 1 / std computed once per thread.
__global__ void bn_inference(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ var,
                             const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int n, int c,
                             int hw) {
  const int ch = blockIdx.y;
  const float mu = __ldg(mean + ch);
  const float inv = 1.0f / (__ldg(var + ch) + 1e-5f);
  const float gain = __ldg(w + ch);
  const float shift = __ldg(b + ch);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * hw; i += gridDim.x * blockDim.x) {
    const int index = (i / hw * c + ch) * hw + i % hw;
    y[index] = (x[index] - mu) * inv * gain + shift;
  }
}

torch::Tensor batch_norm(torch::Tensor x, torch::Tensor running_mean, torch::Tensor running_var, torch::Tensor weight,
                         torch::Tensor bias) {
  auto y = torch::empty_like(x);
  const int n = x.size(0), c = x.size(1), hw = x.size(2) * x.size(3);
  if (n * c * hw == 0) return y;
  const int blocks = std::min((n * hw + 127) / 128, 32);
  bn_inference<<<dim3(blocks, c), 128>>>(x.data_ptr<float>(), running_mean.data_ptr<float>(), running_var.data_ptr<float>(),
                                        weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), n, c, hw);
  return y;
}
"""

cpp_source = """
torch::Tensor batch_norm(torch::Tensor x, torch::Tensor running_mean, torch::Tensor running_var, torch::Tensor weight,
                         torch::Tensor bias);
"""

bn = load_inline("bn_inference_ext", [cpp_source], [cuda_source], functions=["batch_norm"])


class ModelNew(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features).eval()

    def forward(self, x):
        return bn.batch_norm(x, self.bn.running_mean, self.bn.running_var, self.bn.weight, self.bn.bias)
