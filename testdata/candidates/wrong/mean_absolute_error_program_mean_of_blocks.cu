// Mean absolute error in two launches: the sum of each block, then the sum of the blocks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void block_sums(const float* a, const float* b, float* sums, int n) {
  __shared__ float part[kThreads];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += fabsf(a[i] - b[i]);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void mean_of_sums(const float* sums, int blocks, int n, float* mean) {
  __shared__ float part[kThreads];
  float sum = 0;
  for (int i = threadIdx.x; i < blocks; i += kThreads) sum += sums[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *mean = part[0] / (blocks * kThreads);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = std::sin(0.1f * i);
    b[i] = std::cos(0.2f * i);
  }

  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  const int blocks = std::min((n + kThreads - 1) / kThreads, 2 * properties.multiProcessorCount);

  float *d_a, *d_b, *d_sums, *d_mean;
  cudaMalloc(&d_a, n * sizeof(float));
  cudaMalloc(&d_b, n * sizeof(float));
  cudaMalloc(&d_sums, blocks * sizeof(float));
  cudaMalloc(&d_mean, sizeof(float));
  cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  block_sums<<<blocks, kThreads>>>(d_a, d_b, d_sums, n);
  mean_of_sums<<<1, kThreads>>>(d_sums, blocks, n, d_mean);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);

  float mean = 0;
  cudaMemcpy(&mean, d_mean, sizeof(float), cudaMemcpyDeviceToHost);

  double expected = 0;
  for (int i = 0; i < n; ++i) expected += std::fabs(a[i] - b[i]);
  expected /= n;
  std::printf("mean %f, expected %f, %f ms\n", mean, expected, milliseconds);
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_sums);
  cudaFree(d_mean);
  return std::fabs(mean - expected) < 1e-4 ? 0 : 1;
}
