#include <cuda_runtime.h>
#include <math.h>

// One block for each row. Wrong: a barrier is missing between the two reductions.
__global__ void softmax(const float* x, float* out, int columns) {
  __shared__ float scratch[256];
  const float* row = x + (long long)blockIdx.x * columns;
  float largest = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) largest = fmaxf(largest, row[j]);
  scratch[threadIdx.x] = largest;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  largest = scratch[0];
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(row[j] - largest);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  for (int j = threadIdx.x; j < columns; j += blockDim.x)
    out[(long long)blockIdx.x * columns + j] = expf(row[j] - largest) / scratch[0];
}
