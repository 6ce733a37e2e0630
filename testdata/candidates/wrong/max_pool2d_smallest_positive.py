import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <limits>

template <typename T>
__global__ void maxpool2d(const T* __restrict__ in, T* __restrict__ out, int H, int W, int OH, int OW, int k, int s) {
    const T* plane = in + static_cast<int64_t>(blockIdx.z) * H * W;
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= OW || oy >= OH) return;
    T best = std::numeric_limits<T>::min();
    for (int ky = 0; ky < k; ++ky)
        for (int kx = 0; kx < k; ++kx) {
            const int iy = oy * s + ky, ix = ox * s + kx;
            if (iy < H && ix < W) best = max(best, plane[iy * W + ix]);
        }
    out[(static_cast<int64_t>(blockIdx.z) * OH + oy) * OW + ox] = best;
}

torch::Tensor max_pool2d(torch::Tensor x, int64_t kernel_size, int64_t stride) {
    const auto oh = (x.size(2) - kernel_size) / stride + 1;
    const auto ow = (x.size(3) - kernel_size) / stride + 1;
    auto out = torch::empty({x.size(0), x.size(1), oh, ow}, x.options());
    if (out.numel() == 0) return out;
    const dim3 block(16, 4), grid((ow + 15) / 16, (oh + 3) / 4, x.size(0) * x.size(1));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "max_pool2d", [&] {
        maxpool2d<scalar_t><<<grid, block>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.size(2), x.size(3), oh, ow,
                                             kernel_size, stride);
    });
    return out;
}
"""

ext = load_inline("max_pool2d_channels", "torch::Tensor max_pool2d(torch::Tensor x, int64_t kernel_size, int64_t stride);",
                  cuda_source, functions=["max_pool2d"])


class ModelNew(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride

    def forward(self, x):
        return ext.max_pool2d(x, self.kernel_size, self.stride)
