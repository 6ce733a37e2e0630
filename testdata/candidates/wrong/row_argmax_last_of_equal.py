import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

struct Best {
    float value;
    int index;
};

// The larger value wins; of equal values, the one with the smaller index.
__device__ Best better(Best a, Best b) {
    if (b.value > a.value || (b.value == a.value && b.index > a.index)) return b;
    return a;
}

__global__ void argmax_kernel(const float* x, int64_t* out, int columns) {
    __shared__ Best shared[4];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * columns;
    Best best{-INFINITY, -1};
    for (int j = threadIdx.x; j < columns; j += 128) best = better(best, Best{row[j], j});
    for (int mask = 16; mask > 0; mask /= 2) {
        Best other;
        other.value = __shfl_xor_sync(0xffffffff, best.value, mask);
        other.index = __shfl_xor_sync(0xffffffff, best.index, mask);
        best = better(best, other);
    }
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 4; ++w) best = better(best, shared[w]);
        out[blockIdx.x] = best.index;
    }
}

torch::Tensor argmax(torch::Tensor x) {
    auto out = torch::empty({x.size(0)}, x.options().dtype(torch::kInt64));
    if (x.size(0) > 0) argmax_kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), out.data_ptr<int64_t>(), x.size(1));
    return out;
}
"""

module = load_inline("row_argmax", "torch::Tensor argmax(torch::Tensor x);", cuda_source, ["argmax"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.argmax(x)
