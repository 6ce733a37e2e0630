#include <torch/extension.h>
#include <cuda_runtime.h>


__global__ void f(const float* x, float* o, int H, int W, int OH, int OW, int k, int s, int total) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= total) return;
  int j = t % OW, i = t / OW % OH, p = t / (OW * OH);
  float a = 0;
  for (int u = 0; u < k; ++u) for (int v = 0; v < k; ++v) a += x[(p * H + i * s + u) * W + j * s + v];
  o[t] = a / (k * k);
}
__global__ void b(const float* d, float* dx, int H, int W, int OH, int OW, int k, int s, int total) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= total) return;
  int c = t % W, r = t / W % H, p = t / (W * H);
  int i0 = r < k ? 0 : (r - k) / s + 1, i1 = min(r / s, OH - 1), j0 = c < k ? 0 : (c - k) / s + 1, j1 = min(c / s, OW - 1);
  float a = 0;
  for (int i = i0; i <= i1; ++i) for (int j = j0; j <= j1; ++j) a += d[(p * OH + i) * OW + j];
  dx[t] = a / k;
}
torch::Tensor fwd(torch::Tensor x, int64_t k, int64_t s) {
  int H = x.size(2), W = x.size(3), OH = (H - k) / s + 1, OW = (W - k) / s + 1;
  auto o = torch::empty({x.size(0), x.size(1), OH, OW}, x.options()); int n = o.numel();
  if (n) f<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), o.data_ptr<float>(), H, W, OH, OW, k, s, n);
  return o;
}
torch::Tensor bwd(torch::Tensor d, torch::Tensor x, int64_t k, int64_t s) {
  auto dx = torch::empty_like(x); int n = x.numel();
  if (n) b<<<(n + 255) / 256, 256>>>(d.data_ptr<float>(), dx.data_ptr<float>(), x.size(2), x.size(3), d.size(2), d.size(3), k, s, n);
  return dx;
}
