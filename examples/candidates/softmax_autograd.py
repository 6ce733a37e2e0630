import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ float reduced(float value, bool takes_maximum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, value, offset);
    value = takes_maximum ? fmaxf(value, other) : value + other;
  }
  return value;
}

// One warp for each row.
__global__ void forward_kernel(const float* x, float* y, int columns) {
  const float* row = x + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += 32) largest = fmaxf(largest, row[j]);
  largest = reduced(largest, true);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 32) sum += expf(row[j] - largest);
  sum = reduced(sum, false);
  for (int j = threadIdx.x; j < columns; j += 32) y[blockIdx.x * columns + j] = expf(row[j] - largest) / sum;
}

__global__ void backward_kernel(const float* grad_y, const float* y, float* grad_x, int columns) {
  const int first = blockIdx.x * columns;
  float dot = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 32) dot += grad_y[first + j] * y[first + j];
  dot = reduced(dot, false);
  for (int j = threadIdx.x; j < columns; j += 32) grad_x[first + j] = y[first + j] * (grad_y[first + j] - dot);
}

torch::Tensor softmax_forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  if (x.size(0) > 0) forward_kernel<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

torch::Tensor softmax_backward(torch::Tensor grad_y, torch::Tensor y) {
  auto grad_x = torch::empty_like(y);
  if (y.size(0) > 0)
    backward_kernel<<<y.size(0), 32>>>(grad_y.data_ptr<float>(), y.data_ptr<float>(), grad_x.data_ptr<float>(), y.size(1));
  return grad_x;
}
"""

module = load_inline(
    name="softmax_autograd",
    cpp_sources="""
torch::Tensor softmax_forward(torch::Tensor x);
torch::Tensor softmax_backward(torch::Tensor grad_y, torch::Tensor y);
""",
    cuda_sources=cuda_source,
    functions=["softmax_forward", "softmax_backward"],
)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = module.softmax_forward(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        (y,) = ctx.saved_tensors
        return module.softmax_backward(grad_y.contiguous(), y)
