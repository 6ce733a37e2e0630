import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

template <typename T>
__device__ T logistic(T v) { return T(1) / (T(1) + exp(-v)); }

template <typename T>
__global__ void silu_kernel(const T* x, T* y, int64_t n) {
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * logistic(x[i]);
}

// Adds to the gradient, as a kernel of a training loop that accumulates over micro batches does.
template <typename T>
__global__ void silu_grad_kernel(const T* dy, const T* x, T* dx, int64_t n) {
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const T s = logistic(x[i]);
        dx[i] += dy[i] * (s + x[i] * s * (T(1) - s));
    }
}

torch::Tensor silu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "silu", [&] {
        silu_kernel<scalar_t><<<2, 128>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
    });
    return y;
}

void silu_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor dx) {
    dx.zero_();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "silu_backward", [&] {
        silu_grad_kernel<scalar_t><<<2, 128>>>(dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), dx.data_ptr<scalar_t>(), x.numel());
    });
}
"""

cpp_source = """
torch::Tensor silu(torch::Tensor x);
void silu_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor dx);
"""

ext = load_inline(name="silu_acc", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["silu", "silu_backward"])
