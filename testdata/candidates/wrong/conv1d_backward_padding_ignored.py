import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void conv1d_fwd(const float* x, const float* w, const float* b, float* y, int C, int L, int O, int K, int pad, int OL) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int o = blockIdx.y, n = blockIdx.z;
    if (i >= OL) return;
    float acc = 0.f;
    for (int c = 0; c < C; ++c)
        for (int u = 0; u < K; ++u) {
            const int p = i - pad + u;
            if (p >= 0 && p < L) acc += x[(n * C + c) * L + p] * w[(o * C + c) * K + u];
        }
    y[(n * O + o) * OL + i] = acc + b[o];
}

__global__ void conv1d_grad_x(const float* dy, const float* w, float* dx, int C, int L, int O, int K, int pad, int OL) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y, n = blockIdx.z;
    if (p >= L) return;
    float acc = 0.f;
    for (int o = 0; o < O; ++o)
        for (int u = 0; u < K; ++u) {
            const int i = p + pad - u;
            if (i >= 0 && i < OL) acc += dy[(n * O + o) * OL + i] * w[(o * C + c) * K + u];
        }
    dx[(n * C + c) * L + p] = acc;
}

// One warp for each weight; lane-strided over the signals and positions.
__global__ void conv1d_grad_w(const float* dy, const float* x, float* dw, int N, int C, int L, int O, int K, int pad, int OL) {
    const int u = blockIdx.x, c = blockIdx.y, o = blockIdx.z;
    float acc = 0.f;
    for (int t = threadIdx.x; t < N * OL; t += 32) {
        const int n = t / OL, i = t % OL;
        const int p = i + u;
        if (p >= 0 && p < L) acc += dy[(n * O + o) * OL + i] * x[(n * C + c) * L + p];
    }
    for (int s = 16; s > 0; s >>= 1) acc += __shfl_down_sync(0xffffffff, acc, s);
    if (threadIdx.x == 0) dw[(o * C + c) * K + u] = acc;
}

__global__ void conv1d_grad_b(const float* dy, float* db, int N, int O, int OL) {
    const int o = blockIdx.x;
    float acc = 0.f;
    for (int t = threadIdx.x; t < N * OL; t += 32) acc += dy[(t / OL * O + o) * OL + t % OL];
    for (int s = 16; s > 0; s >>= 1) acc += __shfl_down_sync(0xffffffff, acc, s);
    if (threadIdx.x == 0) db[o] = acc;
}

torch::Tensor conv1d_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int padding) {
    const int N = x.size(0), C = x.size(1), L = x.size(2), O = weight.size(0), K = weight.size(2);
    const int OL = L + 2 * padding - K + 1;
    auto y = torch::empty({N, O, OL}, x.options());
    if (y.numel() > 0)
        conv1d_fwd<<<dim3((OL + 63) / 64, O, N), 64>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), C, L, O, K, padding, OL);
    return y;
}

std::vector<torch::Tensor> conv1d_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor weight, int padding) {
    const int N = x.size(0), C = x.size(1), L = x.size(2), O = weight.size(0), K = weight.size(2), OL = dy.size(2);
    auto dx = torch::empty_like(x), dw = torch::empty_like(weight), db = torch::empty({O}, x.options());
    if (dx.numel() > 0)
        conv1d_grad_x<<<dim3((L + 63) / 64, C, N), 64>>>(dy.data_ptr<float>(), weight.data_ptr<float>(), dx.data_ptr<float>(), C, L, O, K, padding, OL);
    if (dw.numel() > 0)
        conv1d_grad_w<<<dim3(K, C, O), 32>>>(dy.data_ptr<float>(), x.data_ptr<float>(), dw.data_ptr<float>(), N, C, L, O, K, padding, OL);
    if (O > 0) conv1d_grad_b<<<O, 32>>>(dy.data_ptr<float>(), db.data_ptr<float>(), N, O, OL);
    return {dx, dw, db};
}
"""

cpp_source = """
torch::Tensor conv1d_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int padding);
std::vector<torch::Tensor> conv1d_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor weight, int padding);
"""

conv = load_inline("conv1d_backward", cpp_source, cuda_source, functions=["conv1d_forward", "conv1d_backward"])
