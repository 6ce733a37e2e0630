// RMS norm. The forward pass stores the inverse root of each row, which the backward pass reads.
// One warp for each row.
__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* out, float* rstd, int columns) {
  const float* row = x + (long long)blockIdx.x * columns;
  float squares = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 32) squares += row[j] * row[j];
  const float r = 1.0f / sqrtf(warp_sum(squares) / columns + 1e-5f);
  for (int j = threadIdx.x; j < columns; j += 32) out[(long long)blockIdx.x * columns + j] = row[j] * r * weight[j];
  if (threadIdx.x == 0) rstd[blockIdx.x] = r;
}

extern "C" __global__ void rms_norm_backward(const float* dout, const float* x, const float* weight, const float* rstd,
                                             float* dx, float* dweight, int columns) {
  const long long first = (long long)blockIdx.x * columns;
  const float r = rstd[blockIdx.x];
  float dot = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 32) dot += dout[first + j] * weight[j] * x[first + j];
  dot = warp_sum(dot) * r * r / columns;
  for (int j = threadIdx.x; j < columns; j += 32) {
    dx[first + j] = r * (dout[first + j] * weight[j] - x[first + j] * dot);
    atomicAdd(&dweight[j], dout[first + j] * x[first + j] * r);
  }
}
