import torch
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

#define EPS 1e-5f

__inline__ __device__ float sum_of_warp(float v) {
    #pragma unroll
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}

// One warp per row.
__global__ void rms_forward_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                   float* __restrict__ rstd, int rows, int n) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* in = x + (size_t)row * n;
    float s = 0;
    for (int j = threadIdx.x; j < n; j += 32) s += in[j] * in[j];
    float r = rsqrtf(sum_of_warp(s) / n + EPS);
    for (int j = threadIdx.x; j < n; j += 32) y[(size_t)row * n + j] = in[j] * r * w[j];
    if (threadIdx.x == 0) rstd[row] = 1.0f / r;
}

__global__ void rms_backward_kernel(const float* __restrict__ dy, const float* __restrict__ x, const float* __restrict__ w,
                                    const float* __restrict__ rstd, float* __restrict__ dx, float* __restrict__ dw,
                                    int rows, int n) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* in = x + (size_t)row * n;
    const float* g = dy + (size_t)row * n;
    float r = rstd[row];
    float dot = 0;
    for (int j = threadIdx.x; j < n; j += 32) dot += g[j] * w[j] * in[j] * r;
    dot = sum_of_warp(dot) / n;
    for (int j = threadIdx.x; j < n; j += 32) {
        float xhat = in[j] * r;
        dx[(size_t)row * n + j] = r * (g[j] * w[j] - xhat * dot);
        atomicAdd(dw + j, g[j] * xhat);
    }
}

std::vector<torch::Tensor> rms_forward(torch::Tensor x, torch::Tensor w) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty_like(x);
    auto rstd = torch::empty({x.size(0), 1}, x.options());
    dim3 block(32, 8);
    if (rows) rms_forward_kernel<<<(rows + 7) / 8, block>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), rstd.data_ptr<float>(), rows, n);
    return {rstd, y};
}

std::vector<torch::Tensor> rms_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor w, torch::Tensor rstd) {
    int rows = x.size(0), n = x.size(1);
    auto dx = torch::empty_like(x);
    auto dw = torch::zeros_like(w);
    dim3 block(32, 8);
    if (rows) rms_backward_kernel<<<(rows + 7) / 8, block>>>(dy.data_ptr<float>(), x.data_ptr<float>(), w.data_ptr<float>(), rstd.data_ptr<float>(), dx.data_ptr<float>(), dw.data_ptr<float>(), rows, n);
    return {dx, dw};
}
"""

decl = """
std::vector<torch::Tensor> rms_forward(torch::Tensor x, torch::Tensor w);
std::vector<torch::Tensor> rms_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor w, torch::Tensor rstd);
"""

rms = load_inline(name="rms_saved", cpp_sources=[decl], cuda_sources=[source], functions=["rms_forward", "rms_backward"])
