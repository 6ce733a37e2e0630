import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <cuda_runtime.h>

__global__ void row_max(const float* x, float* maxima, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float m = x[row * cols];
        for (int j = 1; j < cols; j++) m = max(m, x[row * cols + j]);
        maxima[row] = m;
    }
}

__global__ void exp_and_sum(const float* x, const float* maxima, float* out, float* sums, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
        int row = i / cols;
        float e = exp(x[i] - maxima[row]);
        out[i] = e;
        atomicAdd(&sums[row], e);
    }
}

__global__ void divide(float* out, const float* sums, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) out[i] /= sums[i / cols];
}

void launch_softmax(const float* x, float* maxima, float* sums, float* out, int rows, int cols) {
    if (rows * cols == 0) return;
    int threads = 64;
    int blocks = (rows * cols + threads - 1) / threads;
    row_max<<<(rows + threads - 1) / threads, threads>>>(x, maxima, rows, cols);
    exp_and_sum<<<blocks, threads>>>(x, maxima, out, sums, rows, cols);
    divide<<<blocks, threads>>>(out, sums, rows, cols);
}
"""

cpp_source = """
#include <torch/extension.h>

void launch_softmax(const float* x, float* maxima, float* sums, float* out, int rows, int cols);

torch::Tensor softmax(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 2, "expected a matrix");
    auto out = torch::empty_like(x);
    auto maxima = torch::empty({x.size(0)}, x.options());
    auto sums = torch::zeros({x.size(0)}, x.options());
    launch_softmax(x.data_ptr<float>(), maxima.data_ptr<float>(), sums.data_ptr<float>(), out.data_ptr<float>(),
                   x.size(0), x.size(1));
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("softmax", &softmax, "softmax of each row");
}
"""

module = load_inline(name="softmax_pybind", cpp_sources=[cpp_source], cuda_sources=[cuda_source])


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.softmax(*tensors)
