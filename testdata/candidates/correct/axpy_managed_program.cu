// axpy with unified memory: ./axpy [n]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__global__ void axpy(int n, float a, const float* x, const float* y, float* out) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = index; i < n; i += stride) out[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  const float a = 2.0f;
  float *x, *y, *out;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; i++) {
    x[i] = 1.0f;
    y[i] = i % 100;
  }

  int device;
  cudaGetDevice(&device);
  cudaMemPrefetchAsync(x, n * sizeof(float), device, NULL);
  cudaMemPrefetchAsync(y, n * sizeof(float), device, NULL);

  int minGridSize, blockSize;
  cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, axpy, 0, 0);
  int numBlocks = (n + blockSize - 1) / blockSize;
  axpy<<<numBlocks, blockSize>>>(n, a, x, y, out);

  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(error));
    return EXIT_FAILURE;
  }
  cudaDeviceSynchronize();

  float maxError = 0.0f;
  for (int i = 0; i < n; i++) maxError = fmax(maxError, fabs(out[i] - (a * 1.0f + i % 100)));
  printf("Max error: %f\n", maxError);

  cudaFree(x);
  cudaFree(y);
  cudaFree(out);
  return maxError > 1e-5f ? EXIT_FAILURE : EXIT_SUCCESS;
}
