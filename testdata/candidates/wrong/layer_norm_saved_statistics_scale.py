import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;
constexpr float kEpsilon = 1e-5f;

__device__ __forceinline__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

__device__ float block_sum(float v, float* partial) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0.f;
    for (int w = 0; w < kThreads / 32; ++w) total += partial[w];
    __syncthreads();
    return total;
}

__global__ void forward_kernel(const float* x, const float* gamma, const float* beta, float* y, float* mean, float* rstd,
                               int n) {
    __shared__ float partial[kThreads / 32];
    const int64_t row = blockIdx.x;
    x += row * n;
    y += row * n;
    float sum = 0.f;
    for (int j = threadIdx.x; j < n; j += kThreads) sum += x[j];
    const float m = block_sum(sum, partial) / n;
    float squares = 0.f;
    for (int j = threadIdx.x; j < n; j += kThreads) squares += (x[j] - m) * (x[j] - m);
    const float variance = block_sum(squares, partial) / n;
    const float r = rsqrtf(variance + kEpsilon);
    for (int j = threadIdx.x; j < n; j += kThreads) y[j] = (x[j] - m) * r * gamma[j] + beta[j];
    if (threadIdx.x == 0) {
        mean[row] = m;
        rstd[row] = r * 1.00001f;
    }
}

__global__ void input_kernel(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                             float* dx, int n) {
    __shared__ float partial[kThreads / 32];
    const int64_t row = blockIdx.x;
    dy += row * n;
    x += row * n;
    dx += row * n;
    const float m = mean[row], r = rstd[row];
    float a = 0.f, b = 0.f;
    for (int j = threadIdx.x; j < n; j += kThreads) {
        const float g = dy[j] * gamma[j];
        a += g;
        b += g * (x[j] - m) * r;
    }
    a = block_sum(a, partial) / n;
    b = block_sum(b, partial) / n;
    for (int j = threadIdx.x; j < n; j += kThreads) dx[j] = r * (dy[j] * gamma[j] - a - (x[j] - m) * r * b);
}

// 32 columns for each block, 8 rows at a time.
__global__ void parameter_kernel(const float* dy, const float* x, const float* mean, const float* rstd, float* dgamma,
                                 float* dbeta, int rows, int n) {
    __shared__ float gammas[8][32], betas[8][32];
    const int j = blockIdx.x * 32 + threadIdx.x;
    float g = 0.f, b = 0.f;
    if (j < n) {
        for (int64_t i = threadIdx.y; i < rows; i += 8) {
            g += dy[i * n + j] * (x[i * n + j] - mean[i]) * rstd[i];
            b += dy[i * n + j];
        }
    }
    gammas[threadIdx.y][threadIdx.x] = g;
    betas[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    if (threadIdx.y == 0 && j < n) {
        for (int k = 1; k < 8; ++k) {
            g += gammas[k][threadIdx.x];
            b += betas[k][threadIdx.x];
        }
        dgamma[j] = g;
        dbeta[j] = b;
    }
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> layer_norm_forward(torch::Tensor x, torch::Tensor gamma,
                                                                           torch::Tensor beta) {
    const int rows = x.size(0), n = x.size(1);
    auto y = torch::empty_like(x);
    auto mean = torch::empty({rows}, x.options());
    auto rstd = torch::empty({rows}, x.options());
    if (rows > 0)
        forward_kernel<<<rows, kThreads>>>(x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(),
                                           y.data_ptr<float>(), mean.data_ptr<float>(), rstd.data_ptr<float>(), n);
    return {y, mean, rstd};
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> layer_norm_backward(torch::Tensor dy, torch::Tensor x,
                                                                            torch::Tensor gamma, torch::Tensor mean,
                                                                            torch::Tensor rstd) {
    const int rows = x.size(0), n = x.size(1);
    auto dx = torch::empty_like(x);
    auto dgamma = torch::empty_like(gamma);
    auto dbeta = torch::empty_like(gamma);
    if (rows > 0)
        input_kernel<<<rows, kThreads>>>(dy.data_ptr<float>(), x.data_ptr<float>(), gamma.data_ptr<float>(),
                                         mean.data_ptr<float>(), rstd.data_ptr<float>(), dx.data_ptr<float>(), n);
    parameter_kernel<<<(n + 31) / 32, dim3(32, 8)>>>(dy.data_ptr<float>(), x.data_ptr<float>(), mean.data_ptr<float>(),
                                                     rstd.data_ptr<float>(), dgamma.data_ptr<float>(),
                                                     dbeta.data_ptr<float>(), rows, n);
    return {dx, dgamma, dbeta};
}
"""

cpp_source = """
#include <tuple>
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> layer_norm_forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta);
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> layer_norm_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor gamma, torch::Tensor mean, torch::Tensor rstd);
"""

module = load_inline("layer_norm_saved", cpp_source, cuda_source, functions=["layer_norm_forward", "layer_norm_backward"])


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gamma, beta):
        y, mean, rstd = module.layer_norm_forward(x, gamma, beta)
        ctx.save_for_backward(x, gamma, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, gamma, mean, rstd = ctx.saved_tensors
        return module.layer_norm_backward(dy.contiguous(), x, gamma, mean, rstd)
