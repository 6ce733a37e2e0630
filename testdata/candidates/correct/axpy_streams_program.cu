// axpy with pinned memory, two streams and an event: ./axpy n
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t status = (call);                                                          \
    if (status != cudaSuccess) {                                                          \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));     \
      exit(EXIT_FAILURE);                                                                 \
    }                                                                                     \
  } while (0)

__global__ void axpy(const float* x, const float* y, float* out, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = alpha * x[i] + y[i];
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    printf("usage: %s n\n", argv[0]);
    return 1;
  }
  const int n = atoi(argv[1]);
  const size_t bytes = n * sizeof(float);

  float *h_x, *h_y, *h_out;
  CHECK(cudaMallocHost(&h_x, bytes));
  CHECK(cudaMallocHost(&h_y, bytes));
  CHECK(cudaMallocHost(&h_out, bytes));
  for (int i = 0; i < n; ++i) {
    h_x[i] = rand() / (float)RAND_MAX;
    h_y[i] = rand() / (float)RAND_MAX;
  }

  float *d_x, *d_y, *d_out;
  CHECK(cudaMalloc(&d_x, bytes));
  CHECK(cudaMalloc(&d_y, bytes));
  CHECK(cudaMalloc(&d_out, bytes));

  cudaStream_t copies, kernels;
  cudaEvent_t copied;
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&copied));

  CHECK(cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, copies));
  CHECK(cudaMemcpyAsync(d_y, h_y, bytes, cudaMemcpyHostToDevice, copies));
  CHECK(cudaEventRecord(copied, copies));
  CHECK(cudaStreamWaitEvent(kernels, copied, 0));
  axpy<<<(n + 127) / 128, 128, 0, kernels>>>(d_x, d_y, d_out, 2.5f, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(h_out, d_out, bytes, cudaMemcpyDeviceToHost, kernels));
  CHECK(cudaStreamSynchronize(kernels));

  for (int i = 0; i < n; ++i) printf("%g\n", h_out[i]);
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_y));
  CHECK(cudaFree(d_out));
  CHECK(cudaDeviceReset());
  return 0;
}
