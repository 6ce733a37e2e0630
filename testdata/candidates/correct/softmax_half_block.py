import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include <cub/block/block_reduce.cuh>

template <typename scalar_t, int kThreads>
__global__ void softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int n) {
    using acc_t = at::acc_type<scalar_t, true>;
    using Reduce = cub::BlockReduce<acc_t, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ acc_t shared;
    x += static_cast<int64_t>(blockIdx.x) * n;
    y += static_cast<int64_t>(blockIdx.x) * n;
    acc_t m = -std::numeric_limits<float>::infinity();
    for (int j = threadIdx.x; j < n; j += kThreads) m = max(m, static_cast<acc_t>(x[j]));
    auto larger = [] __device__(acc_t a, acc_t b) { return a > b ? a : b; };
    m = Reduce(storage).Reduce(m, larger);
    if (threadIdx.x == 0) shared = m;
    __syncthreads();
    m = shared;
    acc_t s = 0;
    for (int j = threadIdx.x; j < n; j += kThreads) s += expf(static_cast<acc_t>(x[j]) - m);
    __syncthreads();
    s = Reduce(storage).Sum(s);
    if (threadIdx.x == 0) shared = s;
    __syncthreads();
    s = shared;
    for (int j = threadIdx.x; j < n; j += kThreads) y[j] = static_cast<scalar_t>(expf(static_cast<acc_t>(x[j]) - m) / s);
}

torch::Tensor softmax(torch::Tensor x) {
    auto y = torch::empty_like(x);
    if (x.size(0) == 0) return y;
    AT_DISPATCH_SWITCH(x.scalar_type(), "softmax", AT_DISPATCH_CASE(at::ScalarType::Half, [&] {
        softmax_kernel<scalar_t, 64><<<x.size(0), 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.size(1));
    }));
    return y;
}
"""

module = load_inline("softmax_half_block", "torch::Tensor softmax(torch::Tensor x);", cuda_source, functions=["softmax"],
                     extra_cuda_cflags=["--extended-lambda"])
