// Runs reduced.cu on a GPU: nvcc -fmad=false -arch=native host.cu && ./a.out
#include <cstdio>

#include "reduced.cu"

int main() {
  int n = 3;
  float host_grad_x[] = {1, 1, 1, 1};
  float* grad_x = nullptr;
  cudaMalloc(&grad_x, sizeof host_grad_x);
  cudaMemcpy(grad_x, host_grad_x, sizeof host_grad_x, cudaMemcpyHostToDevice);
  stress_2523_backward<<<1, 1>>>(n, grad_x);
  cudaMemcpy(host_grad_x, grad_x, sizeof host_grad_x, cudaMemcpyDeviceToHost);
  for (auto value : host_grad_x) std::printf("grad_x %g\n", double(value));
}
