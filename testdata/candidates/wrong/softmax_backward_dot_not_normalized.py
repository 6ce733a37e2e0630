import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void softmax_rows(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    float m = in[0];
    for (int j = 1; j < cols; ++j) m = fmaxf(m, in[j]);
    float sum = 0.f;
    for (int j = 0; j < cols; ++j) sum += (out[j] = expf(in[j] - m));
    for (int j = 0; j < cols; ++j) out[j] /= sum;
}

// Softmax is computed again from x; the dot product of y and dy is reduced in shared memory.
__global__ void softmax_rows_backward(const float* dy, const float* x, float* dx, int cols) {
    __shared__ float a[96], b[96];
    const float* in = x + blockIdx.x * cols;
    const float* g = dy + blockIdx.x * cols;
    const int t = threadIdx.x;
    float m = -INFINITY;
    for (int j = 0; j < cols; ++j) m = fmaxf(m, in[j]);
    a[t] = b[t] = 0.f;
    for (int j = t; j < cols; j += 96) {
        const float e = expf(in[j] - m);
        a[t] += e;
        b[t] += e * g[j];
    }
    __syncthreads();
    if (t < 32) {
        float p = a[t] + a[t + 32] + a[t + 64], q = b[t] + b[t + 32] + b[t + 64];
        for (int o = 16; o; o /= 2) {
            p += __shfl_down_sync(0xffffffff, p, o);
            q += __shfl_down_sync(0xffffffff, q, o);
        }
        if (t == 0) { a[0] = p; b[0] = q; }
    }
    __syncthreads();
    const float sum = a[0], dot = b[0];
    for (int j = t; j < cols; j += 96) dx[blockIdx.x * cols + j] = expf(in[j] - m) / sum * (g[j] - dot);
}

torch::Tensor softmax(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int rows = x.size(0), cols = x.size(1);
    if (rows > 0) softmax_rows<<<(rows + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
    return y;
}

torch::Tensor backward(torch::Tensor dy, torch::Tensor x) {
    auto dx = torch::empty_like(x);
    if (x.size(0) > 0) softmax_rows_backward<<<x.size(0), 96>>>(dy.data_ptr<float>(), x.data_ptr<float>(), dx.data_ptr<float>(), x.size(1));
    return dx;
}
"""

ext = load_inline("softmax_rows", "torch::Tensor softmax(torch::Tensor x); torch::Tensor backward(torch::Tensor dy, torch::Tensor x);",
                  cuda_source, functions=["softmax", "backward"])
