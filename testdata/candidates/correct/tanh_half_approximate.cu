// The result has 11 significant bits, for which the error of tanh.approx is small enough. No host code.
#include <cuda_fp16.h>

extern "C" __global__ void tanh_half(const __half* __restrict__ x, __half* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(__half2float(x[i])));
  y[i] = __float2half(t);
}
