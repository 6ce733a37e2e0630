import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void row_sum_kernel(const float* __restrict__ x, float* __restrict__ out, int rows, int cols) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    float total = 0.0f;
    for (int j = warp.thread_rank(); j < cols; j += warp.size()) total += x[(int64_t)row * cols + j];
    total = cg::reduce(warp, total, cg::plus<float>{});
    if (warp.thread_rank() == 0) out[row] = total;
}

torch::Tensor row_sum_cuda(torch::Tensor x) {
    int rows = x.size(0);
    int cols = x.size(1);
    auto out = torch::empty({rows}, x.options());
    const int block = 128;
    const int rows_per_block = block / 32;
    if (rows > 0)
        row_sum_kernel<<<(rows + rows_per_block - 1) / rows_per_block, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    return out;
}
"""

cpp_source = "torch::Tensor row_sum_cuda(torch::Tensor x);"

module = load_inline(
    name="row_sum_cooperative_groups",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["row_sum_cuda"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.row_sum_cuda(*tensors)
