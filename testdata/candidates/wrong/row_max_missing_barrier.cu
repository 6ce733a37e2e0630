// Largest element of each row: a block of four warps for each row.
#include <cuda_runtime.h>

__device__ float warp_max(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

__global__ void __launch_bounds__(128) row_max_kernel(const float* __restrict__ x, float* __restrict__ out, int columns) {
  __shared__ float largest_of_warp[4];
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float largest = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) largest = fmaxf(largest, row[j]);
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) largest_of_warp[threadIdx.x / 32] = largest;
  if (threadIdx.x < 32) {
    largest = warp_max(threadIdx.x < 4 ? largest_of_warp[threadIdx.x] : -INFINITY);
    if (threadIdx.x == 0) out[blockIdx.x] = largest;
  }
}
