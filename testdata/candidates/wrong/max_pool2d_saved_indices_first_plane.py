import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void pool_forward(const float* x, float* y, int64_t* indices, int planes, int height, int width, int out_height,
                             int out_width, int size, int stride) {
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= (int64_t)planes * out_height * out_width) return;
    const int j = k % out_width, i = k / out_width % out_height;
    const float* plane = x + k / out_width / out_height * height * width;
    int64_t best = (int64_t)i * stride * width + j * stride;
    for (int u = 0; u < size; ++u) {
        for (int v = 0; v < size; ++v) {
            const int64_t at = (int64_t)(i * stride + u) * width + j * stride + v;
            if (plane[at] > plane[best]) best = at;
        }
    }
    y[k] = plane[best];
    indices[k] = best;
}

// Windows overlap if the stride is smaller than the size.
__global__ void pool_backward(const float* dy, const int64_t* indices, float* dx, int planes, int pixels, int out_pixels) {
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= (int64_t)planes * out_pixels) return;
    atomicAdd(&dx[indices[k]], dy[k]);
}

std::vector<torch::Tensor> max_pool_forward(torch::Tensor x, int64_t size, int64_t stride) {
    const int64_t out_height = (x.size(2) - size) / stride + 1, out_width = (x.size(3) - size) / stride + 1;
    auto y = torch::empty({x.size(0), x.size(1), out_height, out_width}, x.options());
    auto indices = torch::empty(y.sizes(), x.options().dtype(torch::kInt64));
    if (y.numel() > 0)
        pool_forward<<<(y.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), indices.data_ptr<int64_t>(),
                                                       x.size(0) * x.size(1), x.size(2), x.size(3), out_height, out_width,
                                                       size, stride);
    return {y, indices};
}

torch::Tensor max_pool_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor indices) {
    auto dx = torch::zeros_like(x);
    if (dy.numel() > 0)
        pool_backward<<<(dy.numel() + 255) / 256, 256>>>(dy.data_ptr<float>(), indices.data_ptr<int64_t>(), dx.data_ptr<float>(),
                                                         x.size(0) * x.size(1), x.size(2) * x.size(3),
                                                         dy.size(2) * dy.size(3));
    return dx;
}
"""

cpp_source = """
std::vector<torch::Tensor> max_pool_forward(torch::Tensor x, int64_t size, int64_t stride);
torch::Tensor max_pool_backward(torch::Tensor dy, torch::Tensor x, torch::Tensor indices);
"""

pool = load_inline("max_pool_saved", cpp_source, cuda_source, functions=["max_pool_forward", "max_pool_backward"])
