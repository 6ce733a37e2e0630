import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

template <typename scalar_t, typename accscalar_t = float>
__global__ void row_mean_kernel(const scalar_t* x, scalar_t* out, int rows, int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    scalar_t acc = 0.0f;
    for (int j = 0; j < cols; ++j) acc = acc + x[row * cols + j];
    out[row] = static_cast<scalar_t>(acc / cols);
}

torch::Tensor row_mean_cuda(torch::Tensor x) {
    auto out = torch::empty({x.size(0)}, x.options());
    const int rows = x.size(0);
    if (rows == 0) return out;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "row_mean_cuda", [&] {
        row_mean_kernel<scalar_t><<<(rows + 63) / 64, 64>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), rows, x.size(1));
    });
    return out;
}
"""

cpp_source = "torch::Tensor row_mean_cuda(torch::Tensor x);"

module = load_inline(
    name="row_mean_half_template",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["row_mean_cuda"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.row_mean_cuda(*tensors)
