import torch
from torch.utils.cpp_extension import load_inline

# For B200 (compute_100a). A block computes 128 x 64 elements with the tensor cores, whose sums are in tensor memory.
cuda_source = """
#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cstdint>

constexpr int TILE_M = 128, TILE_N = 64, TILE_K = 16;

__device__ uint32_t shared_address(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// A tile without a swizzle: chunks of 8 elements, 8 rows below each other, then the next 8 elements along k.
__device__ int place(int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; }

__device__ uint64_t matrix_descriptor(const half* tile) {
    const uint64_t leading_bytes = 128, stride_bytes = 256;
    return (shared_address(tile) & 0x3ffff) >> 4 | leading_bytes >> 4 << 16 | stride_bytes >> 4 << 32 | 1ull << 46;
}

__device__ void wait(const uint64_t* barrier, uint32_t parity) {
    asm volatile(
        "{\\n.reg .pred complete;\\n"
        "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\\n"
        "@!complete bra AGAIN;\\n}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

__global__ void __launch_bounds__(128) tensor_kernel(const half* A, const half* B, half* C, int M, int N, int K) {
    __shared__ alignas(128) half a_tile[TILE_M * TILE_K];
    __shared__ alignas(128) half b_tile[TILE_N * TILE_K];
    __shared__ alignas(8) uint64_t finished;
    __shared__ uint32_t tensor_address;
    const int warp = threadIdx.x / 32;
    const int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;
    if (warp == 0)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_address(&tensor_address)) : "memory");
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&finished)) : "memory");
    __syncthreads();
    const uint32_t sums = tensor_address;
    // f32 sums of f16 products.
    const uint32_t instruction = 1u << 4 | TILE_N / 8u << 17 | TILE_M / 16u << 24;
    uint32_t parity = 0;
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int t = threadIdx.x; t < TILE_M * TILE_K; t += 128) {
            const int r = t / TILE_K, k = t % TILE_K;
            a_tile[place(r, k)] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : __float2half(0.0f);
        }
        for (int t = threadIdx.x; t < TILE_N * TILE_K; t += 128) {
            const int r = t % TILE_N, k = t / TILE_N;
            b_tile[place(r, k)] = k0 + k < K && col0 + r < N ? B[(k0 + k) * N + col0 + r] : __float2half(0.0f);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            const uint32_t adds = k0 > 0;
            asm volatile(
                "{\\n.reg .pred adds;\\nsetp.ne.u32 adds, %4, 0;\\n"
                "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, adds;\\n}" ::"r"(sums),
                "l"(matrix_descriptor(a_tile)), "l"(matrix_descriptor(b_tile)), "r"(instruction), "r"(adds) : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&finished)) : "memory");
        }
        wait(&finished, parity);
        parity ^= 1;
    }
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const int row = row0 + threadIdx.x;
    for (int c = 0; c < TILE_N; c += 8) {
        float values[8] = {};
        if (K > 0) {
            asm volatile(
                "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                : "=f"(values[0]), "=f"(values[1]), "=f"(values[2]), "=f"(values[3]), "=f"(values[4]), "=f"(values[5]),
                  "=f"(values[6]), "=f"(values[7])
                : "r"(sums + c));
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        }
        for (int i = 0; i < 8; ++i)
            if (row < M && col0 + c + i < N) C[row * N + col0 + c + i] = __float2half(values[i]);
    }
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(sums));
}

torch::Tensor matmul_tensor(torch::Tensor a, torch::Tensor b) {
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    auto c = torch::empty({M, N}, a.options());
    if (c.numel() > 0)
        tensor_kernel<<<dim3((N + TILE_N - 1) / TILE_N, (M + TILE_M - 1) / TILE_M), 128>>>(
            (const half*)a.data_ptr<at::Half>(), (const half*)b.data_ptr<at::Half>(), (half*)c.data_ptr<at::Half>(), M, N, K);
    return c;
}
"""

module = load_inline("matmul_tensor", "torch::Tensor matmul_tensor(torch::Tensor a, torch::Tensor b);", cuda_source, functions=["matmul_tensor"])
