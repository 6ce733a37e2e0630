import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SRC = '''
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int kThreads = 32;
constexpr int kChunks = 4;

// Each block sums one of the chunks of a row and adds the sum to the result under a lock.
__global__ void row_sum_kernel(const float* x, int* locks, float* out, int cols) {
    const int row = blockIdx.x;
    float sum = 0.0f;
    for (int j = blockIdx.y * kThreads + threadIdx.x; j < cols; j += kChunks * kThreads) sum += x[row * cols + j];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x != 0) return;
    while (atomicCAS(&locks[row], 0, 1) != 0) {
    }
    __threadfence();  // acquire
    out[row] = out[row] + sum;
    locks[row] = 0;
}

torch::Tensor row_sum(torch::Tensor x) {
    const int rows = x.size(0), cols = x.size(1);
    auto locks = torch::zeros({rows}, x.options().dtype(torch::kInt32));
    auto out = torch::zeros({rows}, x.options());
    if (rows == 0) return out;
    row_sum_kernel<<<dim3(rows, kChunks), kThreads>>>(x.data_ptr<float>(), locks.data_ptr<int>(),
                                                      out.data_ptr<float>(), cols);
    return out;
}
'''
CPP_SRC = "torch::Tensor row_sum(torch::Tensor x);"

module = load_inline("row_sum_lock_released_by_store", CPP_SRC, CUDA_SRC, functions=["row_sum"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.row_sum(x)
