import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr float kInvSqrt2 = 0.70710678118654752f;
constexpr float kInvSqrt2Pi = 0.39894228040143268f;

__global__ void gelu_fwd(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * kInvSqrt2));
}

// d/dx [x Phi(x)] = Phi(x) + x phi(x)
__global__ void gelu_bwd(const float* __restrict__ dy, const float* __restrict__ x, float* __restrict__ dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        const float cdf = 0.5f * (1.0f + erff(v * kInvSqrt2));
        const float pdf = kInvSqrt2Pi * expf(-0.5f * v * v);
        dx[i] = dy[i] * cdf;
    }
}

torch::Tensor gelu_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    if (n > 0) gelu_fwd<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

torch::Tensor gelu_backward(torch::Tensor grad_output, torch::Tensor x) {
    auto dx = torch::empty_like(x);
    int n = x.numel();
    if (n > 0) gelu_bwd<<<(n + 255) / 256, 256>>>(grad_output.data_ptr<float>(), x.data_ptr<float>(), dx.data_ptr<float>(), n);
    return dx;
}
"""

cpp_source = """
torch::Tensor gelu_forward(torch::Tensor x);
torch::Tensor gelu_backward(torch::Tensor grad_output, torch::Tensor x);
"""

module = load_inline("gelu_backward", cpp_source, cuda_source, functions=["gelu_forward", "gelu_backward"])


class GELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return module.gelu_forward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return module.gelu_backward(grad_output.contiguous(), x)
