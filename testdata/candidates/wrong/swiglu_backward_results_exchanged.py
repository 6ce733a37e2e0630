import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float sigmoidf(float v) { return 1.0f / (1.0f + expf(-v)); }

// Two elements for each thread; the last thread handles an odd element alone.
__global__ void swiglu_fwd(const float* __restrict__ gate, const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        const float2 g = *reinterpret_cast<const float2*>(gate + i);
        const float2 v = *reinterpret_cast<const float2*>(x + i);
        float2 r;
        r.x = g.x * sigmoidf(g.x) * v.x;
        r.y = g.y * sigmoidf(g.y) * v.y;
        *reinterpret_cast<float2*>(y + i) = r;
    } else if (i < n) {
        y[i] = gate[i] * sigmoidf(gate[i]) * x[i];
    }
}

__global__ void swiglu_bwd(const float* __restrict__ dy, const float* __restrict__ gate, const float* __restrict__ x,
                           float* __restrict__ dgate, float* __restrict__ dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float g = gate[i];
    const float s = sigmoidf(g);
    dx[i] = dy[i] * g * s;
    dgate[i] = dy[i] * x[i] * s * (1.0f + g * (1.0f - s));
}

torch::Tensor swiglu_forward(torch::Tensor gate, torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    if (n == 0) return y;
    const int pairs = (n + 1) / 2;
    swiglu_fwd<<<(pairs + 127) / 128, 128>>>(gate.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

std::vector<torch::Tensor> swiglu_backward(torch::Tensor dy, torch::Tensor gate, torch::Tensor x) {
    auto dgate = torch::empty_like(gate);
    auto dx = torch::empty_like(x);
    const int n = x.numel();
    if (n > 0)
        swiglu_bwd<<<(n + 127) / 128, 128>>>(dy.data_ptr<float>(), gate.data_ptr<float>(), x.data_ptr<float>(),
                                             dgate.data_ptr<float>(), dx.data_ptr<float>(), n);
    return {dx, dgate};
}
"""

cpp_source = """
torch::Tensor swiglu_forward(torch::Tensor gate, torch::Tensor x);
std::vector<torch::Tensor> swiglu_backward(torch::Tensor dy, torch::Tensor gate, torch::Tensor x);
"""

swiglu = load_inline(
    name="swiglu_float2",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["swiglu_forward", "swiglu_backward"],
)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, x):
        ctx.save_for_backward(gate, x)
        return swiglu.swiglu_forward(gate, x)

    @staticmethod
    def backward(ctx, dy):
        gate, x = ctx.saved_tensors
        return tuple(swiglu.swiglu_backward(dy.contiguous(), gate, x))
