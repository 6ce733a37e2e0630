import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// One warp computes a tile of 16 x 16 elements with tensor cores. Tiles are padded with zeros in shared memory.
__global__ void wmma_kernel(const half* A, const half* B, half* C, int M, int N, int K) {
    __shared__ half a_tile[16 * 16], b_tile[16 * 16];
    __shared__ float c_tile[16 * 16];
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int t = threadIdx.x; t < 256; t += 32) {
            const int r = t / 16, s = t % 16;
            a_tile[t] = row0 + r < M && k0 + s < K ? A[(row0 + r) * K + k0 + s] : __float2half(0.0f);
            b_tile[t] = k0 + r < K && col0 + s < N ? B[(k0 + r) * N + col0 + s] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(a, a_tile, 16);
        wmma::load_matrix_sync(b, b_tile, 16);
        wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    wmma::store_matrix_sync(c_tile, c, 16, wmma::mem_row_major);
    __syncwarp();
    for (int t = threadIdx.x; t < 256; t += 32) {
        const int r = row0 + t / 16, s = col0 + t % 16;
        if (r < M && s < N) C[r * N + s] = __float2half(c_tile[t]);
    }
}

torch::Tensor matmul_wmma(torch::Tensor a, torch::Tensor b) {
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    auto c = torch::empty({M, N}, a.options());
    if (c.numel() > 0)
        wmma_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), 32>>>((const half*)a.data_ptr<at::Half>(), (const half*)b.data_ptr<at::Half>(),
                                                               (half*)c.data_ptr<at::Half>(), M, N, K);
    return c;
}
"""

module = load_inline("matmul_wmma", "torch::Tensor matmul_wmma(torch::Tensor a, torch::Tensor b);", cuda_source, functions=["matmul_wmma"])
