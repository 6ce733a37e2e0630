#include <torch/extension.h>
#include <cuda_runtime.h>


__global__ void f(const float* x, const float* w, const float* b, float* o, int C, int H, int W, int K, int L, int p, int OH, int OW, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int j = t % OW, i = t / OW % OH, c = t / (OW * OH) % C, q = t / (OW * OH * C);
  float a = b[c];
  for (int u = 0; u < K; ++u) for (int v = 0; v < L; ++v) {
    int r = i - p + u, s = j - p + v;
    if (r >= 0 && r < H && s >= 0 && s < W) a += x[((q * C + c) * H + r) * W + s] * w[(c * K + u) * L + v];
  }
  o[t] = a;
}
__global__ void gx(const float* d, const float* w, float* dx, int C, int H, int W, int K, int L, int p, int OH, int OW, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int s = t % W, r = t / W % H, c = t / (W * H) % C, q = t / (W * H * C);
  float a = 0;
  for (int u = 0; u < K; ++u) for (int v = 0; v < L; ++v) {
    int i = r + p - u, j = s + p - v;
    if (i >= 0 && i < OH && j >= 0 && j < OW) a += d[((q * C + c) * OH + i) * OW + j] * w[(c * K + u) * L + v];
  }
  dx[t] = a;
}
__global__ void gw(const float* d, const float* x, float* dw, float* db, int N, int C, int H, int W, int K, int L, int p, int OH, int OW) {
  int c = blockIdx.x;
  for (int k = threadIdx.x; k < K * L; k += blockDim.x) {
    int u = k / K, v = k % K;
    float a = 0;
    for (int q = 0; q < N; ++q) for (int i = 0; i < OH; ++i) for (int j = 0; j < OW; ++j) {
      int r = i - p + u, s = j - p + v;
      if (r >= 0 && r < H && s >= 0 && s < W) a += d[((q * C + c) * OH + i) * OW + j] * x[((q * C + c) * H + r) * W + s];
    }
    dw[c * K * L + k] = a;
  }
  if (threadIdx.x == 0) {
    float a = 0;
    for (int q = 0; q < N; ++q) for (int e = 0; e < OH * OW; ++e) a += d[(q * C + c) * OH * OW + e];
    db[c] = a;
  }
}
torch::Tensor fwd(torch::Tensor x, torch::Tensor w, torch::Tensor b, int64_t p) {
  int K = w.size(1), L = w.size(2), OH = x.size(2) + 2 * p - K + 1, OW = x.size(3) + 2 * p - L + 1;
  auto o = torch::empty({x.size(0), x.size(1), OH, OW}, x.options()); int n = o.numel();
  if (n) f<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), o.data_ptr<float>(), x.size(1), x.size(2), x.size(3), K, L, p, OH, OW, n);
  return o;
}
std::vector<torch::Tensor> bwd(torch::Tensor d, torch::Tensor x, torch::Tensor w, int64_t p) {
  auto dx = torch::empty_like(x), dw = torch::empty_like(w), db = torch::empty({x.size(1)}, x.options()); int n = x.numel();
  int C = x.size(1), H = x.size(2), W = x.size(3), K = w.size(1), L = w.size(2), OH = d.size(2), OW = d.size(3);
  if (n) gx<<<(n + 127) / 128, 128>>>(d.data_ptr<float>(), w.data_ptr<float>(), dx.data_ptr<float>(), C, H, W, K, L, p, OH, OW, n);
  if (C) gw<<<C, 64>>>(d.data_ptr<float>(), x.data_ptr<float>(), dw.data_ptr<float>(), db.data_ptr<float>(), x.size(0), C, H, W, K, L, p, OH, OW);
  return {dx, dw, db};
}
