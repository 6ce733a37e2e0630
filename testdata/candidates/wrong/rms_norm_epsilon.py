import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <ATen/ATen.h>

template <typename scalar_t>
__global__ void rms_norm_fwd(
    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
    const torch::PackedTensorAccessor32<scalar_t, 1, torch::RestrictPtrTraits> w,
    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> y) {
    extern __shared__ unsigned char raw[];
    scalar_t* sums = reinterpret_cast<scalar_t*>(raw);
    const int row = blockIdx.x;
    const int n = x.size(1);
    scalar_t acc = 0;
    for (int j = threadIdx.x; j < n; j += blockDim.x) acc += x[row][j] * x[row][j];
    sums[threadIdx.x] = acc;
    __syncthreads();
    for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    const scalar_t inv = rsqrt(sums[0] / n + scalar_t(1e-8));
    for (int j = threadIdx.x; j < n; j += blockDim.x) y[row][j] = x[row][j] * inv * w[j];
}

torch::Tensor rms_norm_forward(torch::Tensor x, torch::Tensor w) {
    auto y = torch::empty_like(x);
    const int threads = 64;
    if (x.numel() > 0) {
        AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_forward", ([&] {
            rms_norm_fwd<scalar_t><<<x.size(0), threads, threads * sizeof(scalar_t)>>>(
                x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                w.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>(),
                y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
        }));
    }
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("rms_norm_forward", &rms_norm_forward, "RMS norm (CUDA)");
}
"""

cpp_source = ""

module = load_inline(name="rms_norm_pybind", cpp_sources=[cpp_source], cuda_sources=[cuda_source])


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.rms_norm_forward(*tensors)
