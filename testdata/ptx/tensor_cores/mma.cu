// c = a * b for a of 32 by n and b of n by 8, in float16 with float32 sums. Two warps; each computes 16 rows. cp.async
// fills one of two buffers while the other one is read.
#include <cuda_fp16.h>

constexpr int kRows = 32;
constexpr int kColumns = 8;
constexpr int kStep = 16;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_16_bytes(void* destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)), "l"(source) : "memory");
}

extern "C" __global__ void product(const half* a, const half* b, float* c, int n) {
  __shared__ __align__(16) half tile_a[2][kRows][kStep];
  __shared__ __align__(16) half tile_b[2][kStep][kColumns];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int first_row = thread / 32 * 16;
  const auto fetch = [&](int k) {
    const int buffer = k / kStep % 2;
    if (k < n) {
      const int half_row = thread % 2 * 8;
      copy_16_bytes(&tile_a[buffer][thread / 2][half_row], &a[thread / 2 * n + k + half_row]);
      if (thread < kStep) copy_16_bytes(&tile_b[buffer][thread][0], &b[(k + thread) * kColumns]);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sums[4] = {};
  fetch(0);
#pragma unroll 1
  for (int k = 0; k < n; k += kStep) {
    fetch(k + kStep);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const int buffer = k / kStep % 2;
    unsigned fragment_a[4];
    unsigned fragment_b[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment_a[0]), "=r"(fragment_a[1]), "=r"(fragment_a[2]), "=r"(fragment_a[3])
                 : "r"(shared_address(&tile_a[buffer][first_row + lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fragment_b[0]), "=r"(fragment_b[1])
                 : "r"(shared_address(&tile_b[buffer][lane % 16][0])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(fragment_a[0]), "r"(fragment_a[1]), "r"(fragment_a[2]), "r"(fragment_a[3]), "r"(fragment_b[0]),
                   "r"(fragment_b[1]));
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    c[(first_row + lane / 4 + i / 2 * 8) * kColumns + lane % 4 * 2 + i % 2] = sums[i];
}
