import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void lookup_kernel(const int64_t* index, const float* table, float* out, int total, int dim) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < total; t += blockDim.x * gridDim.x)
        out[t] = table[index[t / dim] * dim + t % dim];
}

// A warp handles 32 tokens of one column. Lanes with the same index elect one of them, which adds for all.
__global__ void lookup_backward_kernel(const float* grad, const int64_t* index, float* grad_table, int count, int dim) {
    const int lane = threadIdx.x;
    const int i = blockIdx.x * 32 + lane;
    const int j = blockIdx.y;
    const long long row = i < count ? index[i] : -1;
    const float g = i < count ? grad[i * dim + j] : 0.0f;
    const unsigned peers = __match_any_sync(0xffffffffu, row);
    float sum = 0.0f;
    for (int s = 0; s < 32; ++s) {
        const float other = __shfl_sync(0xffffffffu, g, s);
        if (peers & (1u << s)) sum += other;
    }
    if (row >= 0 && lane == __ffs(peers) - 1) grad_table[row * dim + j] = sum;
}

torch::Tensor lookup(torch::Tensor index, torch::Tensor table) {
    auto out = torch::empty({index.size(0), table.size(1)}, table.options());
    if (out.numel() > 0)
        lookup_kernel<<<4, 128>>>(index.data_ptr<int64_t>(), table.data_ptr<float>(), out.data_ptr<float>(), out.numel(), table.size(1));
    return out;
}

torch::Tensor lookup_backward(torch::Tensor grad, torch::Tensor index, torch::Tensor table) {
    auto grad_table = torch::zeros_like(table);
    const int count = index.size(0), dim = table.size(1);
    if (count > 0 && dim > 0)
        lookup_backward_kernel<<<dim3((count + 31) / 32, dim), 32>>>(grad.data_ptr<float>(), index.data_ptr<int64_t>(), grad_table.data_ptr<float>(), count, dim);
    return grad_table;
}
"""

cpp_source = """
torch::Tensor lookup(torch::Tensor index, torch::Tensor table);
torch::Tensor lookup_backward(torch::Tensor grad, torch::Tensor index, torch::Tensor table);
"""

ext = load_inline("embedding_match", cpp_source, cuda_source, ["lookup", "lookup_backward"])
