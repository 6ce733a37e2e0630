import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void decode(const float* q, const float* k, const float* v, float* out, int heads, int groups, int tokens, int dim, int width, float scale) {
  extern __shared__ float p[];
  __shared__ float red[4];
  const int h = blockIdx.x, g = h * groups / heads, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float m = -INFINITY;
  for (int t = warp; t < tokens; t += 4) {
    float s = 0.f;
    for (int d = lane; d < dim; d += 32) s += q[h * dim + d] * k[(g * tokens + t) * dim + d];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
    s *= scale;
    if (lane == 0) p[t] = s;
    m = fmaxf(m, s);
  }
  if (lane == 0) red[warp] = m;
  __syncthreads();
  m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
  __syncthreads();
  float total = 0.f;
  for (int t = threadIdx.x; t < tokens; t += 128) { p[t] = expf(p[t] - m); total += p[t]; }
  for (int o = 16; o; o >>= 1) total += __shfl_xor_sync(0xffffffff, total, o);
  if (lane == 0) red[warp] = total;
  __syncthreads();
  total = red[0] + red[1] + red[2] + red[3];
  for (int c = threadIdx.x; c < width; c += 128) {
    float r = 0.f;
    for (int t = 0; t < tokens; ++t) r += p[t] * v[(g * tokens + t) * dim + c];
    out[h * width + c] = r / total;
  }
}
torch::Tensor run(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
  const int heads = q.size(0), dim = q.size(1), groups = k.size(0), tokens = k.size(1), width = v.size(2);
  auto out = torch::empty({heads, width}, q.options());
  if (heads > 0 && width > 0) decode<<<heads, 128, tokens * sizeof(float)>>>(q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), out.data_ptr<float>(), heads, groups, tokens, dim, width, 1.0f / std::sqrt((float)dim));
  return out;
}
"""

module = load_inline(
    name="grouped_query_attention_value_stride",
    cpp_sources=["torch::Tensor run(torch::Tensor q, torch::Tensor k, torch::Tensor v);"],
    cuda_sources=[source],
    functions=["run"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.run(*tensors)
