import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

#define TX 16
#define TY 8
#define MAXK 7
template <int K>
__global__ void dw_tile(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int C, int H, int W, int OH, int OW, int pad) {
  __shared__ float tile[TY + K - 1][TX + K - 1];
  __shared__ float ws[K * K];
  const int nc = blockIdx.z, c = nc % C;
  const int ox = blockIdx.x * TX, oy = blockIdx.y * TY;
  const int tid = threadIdx.y * TX + threadIdx.x;
  if (tid < K * K) ws[tid] = w[c * K * K + tid];
  const float* xp = x + (size_t)nc * H * W;
  for (int t = tid; t < (TY + K - 1) * (TX + K - 1); t += TX * TY) {
    const int r = t / (TX + K - 1), q = t % (TX + K - 1);
    const int iy = oy + r - pad, ix = ox + q - pad;
    tile[r][q] = (iy >= 0 && iy < H && ix >= 0 && ix < W) ? __ldg(xp + iy * W + ix) : 0.f;
  }
  __syncthreads();
  const int i = oy + threadIdx.y, j = ox + threadIdx.x;
  if (i < OH && j < W) {
    float acc = b[c];
#pragma unroll
    for (int u = 0; u < K; ++u)
#pragma unroll
      for (int v = 0; v < K; ++v) acc = fmaf(tile[threadIdx.y + u][threadIdx.x + v], ws[u * K + v], acc);
    y[((size_t)nc * OH + i) * OW + j] = acc;
  }
}
__global__ void dw_any(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int C, int H, int W, int KH, int KW, int OH, int OW, int pad, int total) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < total; t += gridDim.x * blockDim.x) {
    const int j = t % OW, i = t / OW % OH, nc = t / (OW * OH), c = nc % C;
    float acc = b[c];
    for (int u = 0; u < KH; ++u) {
      const int iy = i - pad + u;
      if (iy < 0 || iy >= H) continue;
      for (int v = 0; v < KW; ++v) {
        const int ix = j - pad + v;
        if (ix < 0 || ix >= W) continue;
        acc += x[(nc * H + iy) * W + ix] * w[(c * KH + u) * KW + v];
      }
    }
    y[t] = acc;
  }
}
torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b, int64_t pad) {
  const int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), KH = w.size(1), KW = w.size(2);
  const int OH = H + 2 * pad - KH + 1, OW = W + 2 * pad - KW + 1;
  auto y = torch::empty({N, C, OH, OW}, x.options());
  if (y.numel() == 0) return y;
  dim3 g((OW + TX - 1) / TX, (OH + TY - 1) / TY, N * C), blk(TX, TY);
  if (KH == 3 && KW == 3) dw_tile<3><<<g, blk>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), C, H, W, OH, OW, pad);
  else if (KH == 5 && KW == 5) dw_tile<5><<<g, blk>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), C, H, W, OH, OW, pad);
  else { const int total = y.numel(); dw_any<<<std::min((total + 127) / 128, 64), 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), C, H, W, KH, KW, OH, OW, pad, total); }
  return y;
}
"""

mod = load_inline(name="m", cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b, int64_t pad);", cuda_sources=cuda_source, functions=["forward"], extra_cuda_cflags=["-O3"])


class ModelNew(torch.nn.Module):
    def forward(self, *a):
        return mod.forward(*a)
