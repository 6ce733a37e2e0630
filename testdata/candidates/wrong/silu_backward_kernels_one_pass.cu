// SiLU. The backward pass adds to the gradient, as the backward pass of a larger network does.
__global__ void silu(const float* x, float* out, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = x[i] / (1.0f + expf(-x[i]));
}

__global__ void silu_grad(const float* x, const float* grad_out, float* grad_x, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const float s = 1.0f / (1.0f + expf(-x[i]));
    grad_x[i] += grad_out[i] * s * (1.0f + x[i] * (1.0f - s));
  }
}
