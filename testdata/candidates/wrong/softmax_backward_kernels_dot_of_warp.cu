// Softmax of rows and its gradient, which uses the result of the forward pass. One block for each row.
#include <cuda_runtime.h>

#define WARPS 4

__device__ float block_reduce(float v, float* scratch, bool is_max) {
  for (int offset = 16; offset > 0; offset >>= 1) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = is_max ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < WARPS; ++w) v = is_max ? fmaxf(v, scratch[w]) : v + scratch[w];
  return v;
}

__global__ void softmax_kernel(const float* x, float* y, int columns) {
  __shared__ float scratch[WARPS];
  x += (size_t)blockIdx.x * columns;
  y += (size_t)blockIdx.x * columns;
  float largest = x[0];
  for (int j = threadIdx.x; j < columns; j += blockDim.x) largest = fmaxf(largest, x[j]);
  largest = block_reduce(largest, scratch, true);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(x[j] - largest);
  sum = block_reduce(sum, scratch, false);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) y[j] = expf(x[j] - largest) / sum;
}

__global__ void softmax_backward_kernel(const float* dy, const float* y, float* dx, int columns) {
  __shared__ float scratch[WARPS];
  dy += (size_t)blockIdx.x * columns;
  y += (size_t)blockIdx.x * columns;
  dx += (size_t)blockIdx.x * columns;
  float dot = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) dot += dy[j] * y[j];
  for (int o = 16; o > 0; o >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, o);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) dx[j] = y[j] * (dy[j] - dot);
}
