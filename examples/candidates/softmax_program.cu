// Softmax of each row of a matrix: ./softmax ROWS COLUMNS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

// One block for each row.
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
  __syncthreads();
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

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 4;
  const int columns = argc > 2 ? atoi(argv[2]) : 10;
  const size_t bytes = sizeof(float) * rows * columns;
  float* logits = (float*)malloc(bytes);
  float* probabilities = (float*)malloc(bytes);
  for (int i = 0; i < rows * columns; ++i) logits[i] = (float)(i % 13) / 2;

  float *device_logits, *device_probabilities;
  cudaMalloc(&device_logits, bytes);
  cudaMalloc(&device_probabilities, bytes);
  cudaMemcpy(device_logits, logits, bytes, cudaMemcpyHostToDevice);
  softmax<<<rows, 256>>>(device_logits, device_probabilities, columns);
  cudaMemcpy(probabilities, device_probabilities, bytes, cudaMemcpyDeviceToHost);

  int errors = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int column = 0; column < columns; ++column) sum += probabilities[row * columns + column];
    if (fabs(sum - 1) > 1e-5) ++errors;
  }
  printf("%d of %d rows do not sum to 1\n", errors, rows);
  cudaFree(device_logits);
  cudaFree(device_probabilities);
  free(logits);
  free(probabilities);
  return errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
