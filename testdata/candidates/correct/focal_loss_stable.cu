#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float one(float x, int t, float alpha) {
  const float z = t ? x : -x, w = t ? alpha : 1.f - alpha;
  const float q = 1.f / (1.f + expf(z));   // 1 - p
  const float ce = fmaxf(-z, 0.f) + log1pf(expf(-fabsf(z)));
  return w * q * q * ce;
}
__global__ void fwd_k(const float* __restrict__ x, const int* __restrict__ t, float alpha, float* __restrict__ y, int n) {
  const int n4 = n >> 2;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    const int4 l = reinterpret_cast<const int4*>(t)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(one(v.x, l.x, alpha), one(v.y, l.y, alpha), one(v.z, l.z, alpha), one(v.w, l.w, alpha));
  }
  const int i = n4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && i < n) y[i] = one(x[i], t[i], alpha);
}
__global__ void bwd_k(const float* __restrict__ g, const float* __restrict__ x, const int* __restrict__ t, float alpha, float* __restrict__ dx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float z = t[i] ? x[i] : -x[i], w = t[i] ? alpha : 1.f - alpha;
  const float q = 1.f / (1.f + expf(z)), p = 1.f / (1.f + expf(-z));
  const float ce = fmaxf(-z, 0.f) + log1pf(expf(-fabsf(z)));
  const float d = -w * (2.f * q * q * p * ce + q * q * q);
  dx[i] = g[i] * (t[i] ? d : -d);
}
torch::Tensor fwd(torch::Tensor x, torch::Tensor t, double alpha) {
  auto y = torch::empty_like(x); int n = x.numel();
  if (n) fwd_k<<<std::min((n / 4 + 127) / 128 + 1, 32), 128>>>(x.data_ptr<float>(), t.data_ptr<int>(), (float)alpha, y.data_ptr<float>(), n);
  return y;
}
torch::Tensor bwd(torch::Tensor g, torch::Tensor x, torch::Tensor t, double alpha) {
  auto dx = torch::empty_like(x); int n = x.numel();
  if (n) bwd_k<<<(n + 127) / 128, 128>>>(g.data_ptr<float>(), x.data_ptr<float>(), t.data_ptr<int>(), (float)alpha, dx.data_ptr<float>(), n);
  return dx;
}
