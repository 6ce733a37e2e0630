import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

// One pass: the sums of x and x^2 are double, so that their difference keeps its digits.
__global__ void layer_norm_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                                  float* __restrict__ y, int cols) {
    __shared__ double sums[2][4];
    const float* row = x + (size_t)blockIdx.x * cols;
    double s = 0.0, q = 0.0;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        const double v = row[j];
        s += v;
        q += v * v;
    }
    for (int o = 16; o > 0; o >>= 1) {
        s += __shfl_down_sync(0xffffffff, s, o);
        q += __shfl_down_sync(0xffffffff, q, o);
    }
    if (threadIdx.x % 32 == 0) {
        sums[0][threadIdx.x / 32] = s;
        sums[1][threadIdx.x / 32] = q;
    }
    __syncthreads();
    s = sums[0][0] + sums[0][1] + sums[0][2] + sums[0][3];
    q = sums[1][0] + sums[1][1] + sums[1][2] + sums[1][3];
    const double mean = s / cols;
    const float rstd = (float)rsqrt(q / cols - mean * mean + 1e-5);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[(size_t)blockIdx.x * cols + j] = (float)(row[j] - mean) * rstd * w[j] + b[j];
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
    auto y = torch::empty_like(x);
    if (x.size(0) > 0)
        layer_norm_kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""

ext = load_inline("layer_norm_one_pass", "torch::Tensor layer_norm(torch::Tensor x, torch::Tensor w, torch::Tensor b);",
                  cuda_source, functions=["layer_norm"])
