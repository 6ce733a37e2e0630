// Runs reduced.cu on a GPU: nvcc -fmad=false -arch=native host.cu && ./a.out
#include <cstdio>

#include "reduced.cu"

int main() {
  float host_x[] = {2, 1, -1.875, 1.375};
  float* x = nullptr;
  cudaMalloc(&x, sizeof host_x);
  cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice);
  int n = 3;
  float host_grad_x[] = {1, 1, 1, 1};
  float* grad_x = nullptr;
  cudaMalloc(&grad_x, sizeof host_grad_x);
  cudaMemcpy(grad_x, host_grad_x, sizeof host_grad_x, cudaMemcpyHostToDevice);
  stress_2237_backward<<<1, 1>>>(x, n, grad_x);
  cudaMemcpy(host_x, x, sizeof host_x, cudaMemcpyDeviceToHost);
  for (auto value : host_x) std::printf("x %g\n", double(value));
  cudaMemcpy(host_grad_x, grad_x, sizeof host_grad_x, cudaMemcpyDeviceToHost);
  for (auto value : host_grad_x) std::printf("grad_x %g\n", double(value));
}
