import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SRC = '''
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int kThreads = 64;
constexpr int kChunks = 3;

// Each block sums one of the chunks of a row. The block that finishes last adds up the partial sums of its row.
__global__ void mse_kernel(const float* p, const float* t, float* partial, unsigned int* finished, float* out,
                           int cols) {
    __shared__ float s[kThreads];
    __shared__ bool is_last;
    const int row = blockIdx.x;
    const int chunk = (cols + kChunks - 1) / kChunks;
    const int begin = blockIdx.y * chunk;
    const int end = min(begin + chunk, cols);
    float sum = 0.0f;
    for (int j = begin + threadIdx.x; j < end; j += kThreads) {
        const float d = p[row * cols + j] - t[row * cols + j];
        sum = fmaf(d, d, sum);
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[row * kChunks + blockIdx.y] = s[0];
        __threadfence_block();
        is_last = atomicAdd(&finished[row], 1u) == kChunks - 1;
        __threadfence();  // acquire
    }
    __syncthreads();
    if (is_last && threadIdx.x == 32) {
        float total = 0.0f;
        for (int k = 0; k < kChunks; ++k) total += partial[row * kChunks + k];
        out[row] = total / static_cast<float>(cols);
    }
}

torch::Tensor mse(torch::Tensor predictions, torch::Tensor targets) {
    const int rows = predictions.size(0), cols = predictions.size(1);
    auto partial = torch::empty({rows, kChunks}, predictions.options());
    auto finished = torch::zeros({rows}, predictions.options().dtype(torch::kInt32));
    auto out = torch::empty({rows}, predictions.options());
    if (rows == 0) return out;
    mse_kernel<<<dim3(rows, kChunks), kThreads>>>(
        predictions.data_ptr<float>(), targets.data_ptr<float>(), partial.data_ptr<float>(),
        reinterpret_cast<unsigned int*>(finished.data_ptr<int>()), out.data_ptr<float>(), cols);
    return out;
}
'''
CPP_SRC = "torch::Tensor mse(torch::Tensor predictions, torch::Tensor targets);"

module = load_inline("mean_squared_error_block_fence", CPP_SRC, CUDA_SRC, functions=["mse"])


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return module.mse(predictions, targets)
