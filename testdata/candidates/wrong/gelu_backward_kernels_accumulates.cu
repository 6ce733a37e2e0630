// GELU and its gradient, one thread for each element. No host code.
__device__ inline float cdf(float v) { return 0.5f * (1.0f + erff(v * 0.70710678118654752f)); }

extern "C" __global__ void gelu_forward(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * cdf(x[i]);
}

extern "C" __global__ void gelu_backward(const float* __restrict__ dy, const float* __restrict__ x,
                                         float* __restrict__ dx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  const float density = 0.39894228040143268f * expf(-0.5f * v * v);
  dx[i] += dy[i] * (cdf(v) + v * density);
}
