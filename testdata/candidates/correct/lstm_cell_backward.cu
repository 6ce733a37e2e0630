#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float sg(float x) { return 1.f / (1.f + expf(-x)); }
__global__ void cell(const float* __restrict__ G, const float* __restrict__ c0, float* __restrict__ h, float* __restrict__ c1, int B, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= B * n) return;
  const int b = t / n, j = t % n;
  const float* r = G + b * 4 * n;
  const float c = sg(r[n + j]) * c0[t] + sg(r[j]) * tanhf(r[2 * n + j]);
  c1[t] = c; h[t] = sg(r[3 * n + j]) * tanhf(c);
}
__global__ void cell_bwd(const float* __restrict__ dh, const float* __restrict__ dc1, const float* __restrict__ G, const float* __restrict__ c0, float* __restrict__ dG, float* __restrict__ dc0, int B, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= B * n) return;
  const int b = t / n, j = t % n;
  const float* r = G + b * 4 * n; float* d = dG + b * 4 * n;
  const float i = sg(r[j]), f = sg(r[n + j]), g = tanhf(r[2 * n + j]), o = sg(r[3 * n + j]);
  const float tc = tanhf(f * c0[t] + i * g);
  const float dc = dc1[t] + dh[t] * o * (1.f - tc * tc);
  d[j] = dc * g * i * (1.f - i);
  d[n + j] = dc * c0[t] * f * (1.f - f);
  d[2 * n + j] = dc * i * (1.f - g * g);
  d[3 * n + j] = dh[t] * tc * o * (1.f - o);
  dc0[t] = dc * f;
}
std::vector<torch::Tensor> fwd(torch::Tensor G, torch::Tensor c0) {
  const int B = c0.size(0), n = c0.size(1);
  auto h = torch::empty_like(c0), c1 = torch::empty_like(c0);
  if (B * n) cell<<<(B * n + 127) / 128, 128>>>(G.data_ptr<float>(), c0.data_ptr<float>(), h.data_ptr<float>(), c1.data_ptr<float>(), B, n);
  return {h, c1};
}
std::vector<torch::Tensor> bwd(torch::Tensor dh, torch::Tensor dc1, torch::Tensor G, torch::Tensor c0) {
  const int B = c0.size(0), n = c0.size(1);
  auto dG = torch::empty_like(G), dc0 = torch::empty_like(c0);
  if (B * n) cell_bwd<<<(B * n + 127) / 128, 128>>>(dh.data_ptr<float>(), dc1.data_ptr<float>(), G.data_ptr<float>(), c0.data_ptr<float>(), dG.data_ptr<float>(), dc0.data_ptr<float>(), B, n);
  return {dG, dc0};
}
