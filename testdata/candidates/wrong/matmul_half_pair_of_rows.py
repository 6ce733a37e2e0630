import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_fp16.h>

constexpr int BM = 16, BN = 32, BK = 32;

// C = A B in half precision with float accumulators. Each of the 16 x 16 threads computes two neighbouring columns.
__global__ void hgemm(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int M, int N,
                      int K) {
    __shared__ __half sA[BM][BK];
    __shared__ __half2 sB[BK][BN / 2];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty;
    const int col = blockIdx.x * BN + 2 * tx;
    float acc0 = 0.f, acc1 = 0.f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int k = tx; k < BK; k += 16) sA[ty][k] = row < M && k0 + k < K ? A[row * K + k0 + k] : __float2half(0.f);
        for (int k = ty; k < BK; k += 16) {
            const bool in = k0 + k < K;
            const __half low = in && col < N ? B[(k0 + k) * N + col] : __float2half(0.f);
            const __half high = in && col + 1 < N ? B[(k0 + k + 1) * N + col] : __float2half(0.f);
            sB[k][tx] = __halves2half2(low, high);
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float a = __half2float(sA[ty][k]);
            const float2 b = __half22float2(sB[k][tx]);
            acc0 += a * b.x;
            acc1 += a * b.y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = __float2half(acc0);
    if (row < M && col + 1 < N) C[row * N + col + 1] = __float2half(acc1);
}

torch::Tensor matmul_fp16(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.dtype() == torch::kHalf && b.dtype() == torch::kHalf, "expected half tensors");
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    auto c = torch::empty({M, N}, a.options());
    if (M == 0 || N == 0) return c;
    hgemm<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), dim3(16, 16)>>>(
        reinterpret_cast<const __half*>(a.data_ptr<at::Half>()), reinterpret_cast<const __half*>(b.data_ptr<at::Half>()),
        reinterpret_cast<__half*>(c.data_ptr<at::Half>()), M, N, K);
    return c;
}
"""

module = load_inline(
    name="matmul_fp16",
    cpp_sources="torch::Tensor matmul_fp16(torch::Tensor a, torch::Tensor b);",
    cuda_sources=source,
    functions=["matmul_fp16"],
    extra_cuda_cflags=["-O3", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return module.matmul_fp16(a, b)
