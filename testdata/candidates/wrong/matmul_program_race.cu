// Tiled matrix product with a check on the CPU: ./matmul M N K
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#define TILE 16

static void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int k = t * TILE;
    As[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < K ? B[(k + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

int main(int argc, char** argv) {
  int M = 512, N = 512, K = 512;
  if (argc == 4) {
    M = atoi(argv[1]);
    N = atoi(argv[2]);
    K = atoi(argv[3]);
  }
  size_t bytesA = (size_t)M * K * sizeof(float), bytesB = (size_t)K * N * sizeof(float);
  size_t bytesC = (size_t)M * N * sizeof(float);
  float* A = (float*)malloc(bytesA);
  float* B = (float*)malloc(bytesB);
  float* C = (float*)malloc(bytesC);
  srand(1);
  for (int i = 0; i < M * K; ++i) A[i] = rand() / (float)RAND_MAX;
  for (int i = 0; i < K * N; ++i) B[i] = rand() / (float)RAND_MAX;

  float *dA, *dB, *dC;
  check(cudaMalloc((void**)&dA, bytesA), "cudaMalloc");
  check(cudaMalloc((void**)&dB, bytesB), "cudaMalloc");
  check(cudaMalloc((void**)&dC, bytesC), "cudaMalloc");
  check(cudaMemcpy(dA, A, bytesA, cudaMemcpyHostToDevice), "copy of A");
  check(cudaMemcpy(dB, B, bytesB, cudaMemcpyHostToDevice), "copy of B");
  check(cudaMemset(dC, 0, bytesC), "cudaMemset");

  dim3 block(TILE, TILE);
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul<<<grid, block>>>(dA, dB, dC, M, N, K);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(C, dC, bytesC, cudaMemcpyDeviceToHost), "copy of C");

  int errors = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      double expected = 0;
      for (int k = 0; k < K; ++k) expected += (double)A[i * K + k] * B[k * N + j];
      if (fabs(C[i * N + j] - expected) > 1e-3) ++errors;
    }
  }
  printf(errors == 0 ? "PASSED\n" : "FAILED\n");
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
  free(A);
  free(B);
  free(C);
  exit(errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
