import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

template <int kWarps>
__device__ float block_reduce_max(float v, float* shared) {
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = shared[0];
    for (int w = 1; w < kWarps; ++w) v = fmaxf(v, shared[w]);
    __syncthreads();
    return v;
}

template <int kWarps>
__device__ float block_reduce_sum(float v, float* shared) {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.f;
    for (int w = 0; w < kWarps; ++w) v += shared[w];
    __syncthreads();
    return v;
}

template <int kWarps>
__global__ void log_softmax_fwd(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ float shared[kWarps];
    x += static_cast<size_t>(blockIdx.x) * n;
    y += static_cast<size_t>(blockIdx.x) * n;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) m = fmaxf(m, x[i]);
    m = block_reduce_max<kWarps>(m, shared);
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) s += expf(x[i] - m);
    const float log_sum = logf(block_reduce_sum<kWarps>(s, shared));
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) y[i] = x[i] - m - log_sum;
}

// dx = dy - exp(y) * sum(dy)
template <int kWarps>
__global__ void log_softmax_bwd(const float* __restrict__ dy, const float* __restrict__ y, float* __restrict__ dx, int n) {
    __shared__ float shared[kWarps];
    const size_t first = static_cast<size_t>(blockIdx.x) * n;
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) s += dy[first + i];
    s = block_reduce_sum<kWarps>(s, shared);
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) dx[first + i] = dy[first + i] - y[first + i] * s;
}

torch::Tensor log_softmax_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    if (x.size(0) > 0) log_softmax_fwd<4><<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

torch::Tensor log_softmax_backward(torch::Tensor grad_out, torch::Tensor out) {
    auto dx = torch::empty_like(out);
    if (out.size(0) > 0)
        log_softmax_bwd<4><<<out.size(0), 128>>>(grad_out.data_ptr<float>(), out.data_ptr<float>(), dx.data_ptr<float>(), out.size(1));
    return dx;
}
"""

cpp_source = """
torch::Tensor log_softmax_forward(torch::Tensor x);
torch::Tensor log_softmax_backward(torch::Tensor grad_out, torch::Tensor out);
"""

module = load_inline(
    name="log_softmax_backward",
    cpp_sources=[cpp_source],
    cuda_sources=[cuda_source],
    functions=["log_softmax_forward", "log_softmax_backward"],
    extra_cuda_cflags=["-O3", "--std=c++17"],
)


class LogSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = module.log_softmax_forward(x)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        return module.log_softmax_backward(grad.contiguous(), *ctx.saved_tensors)
