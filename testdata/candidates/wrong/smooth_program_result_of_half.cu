// Two steps of a stencil with double buffering.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#define STEPS 2
#define BLOCK 64

__global__ void smooth(const float* current, float* next, int n) {
  __shared__ float tile[BLOCK + 2];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) tile[threadIdx.x + 1] = current[i];
  if (threadIdx.x == 0 && i > 0) tile[0] = current[i - 1];
  if (threadIdx.x == BLOCK - 1 && i + 1 < n) tile[BLOCK + 1] = current[i + 1];
  __syncthreads();
  if (i >= n) return;
  if (i == 0 || i == n - 1) next[i] = tile[threadIdx.x + 1];
  else next[i] = 0.25f * tile[threadIdx.x] + 0.5f * tile[threadIdx.x + 1] + 0.25f * tile[threadIdx.x + 2];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::stoi(argv[1]) : 4096;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7 - 3.0f;

  float *current = nullptr, *next = nullptr;
  cudaMalloc(&current, n * sizeof(float));
  cudaMalloc(&next, n * sizeof(float));
  cudaMemcpy(current, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int step = 0; step < STEPS; ++step) {
    smooth<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(current, next, n);
    std::swap(current, next);
  }
  cudaMemcpy(values.data(), current, (n / 2) * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaDeviceSynchronize()) {
    std::fprintf(stderr, "%s\n", cudaGetErrorName(error));
    return 1;
  }
  double sum = 0;
  for (float value : values) sum += value;
  std::printf("sum %f\n", sum);
  cudaFree(current);
  cudaFree(next);
}
