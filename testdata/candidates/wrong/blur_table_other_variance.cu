#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void k(const float* x, const float* w, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = 0;
  for (int q = 0; q < 7; ++q) { int j = i + q - 3; if (j >= 0 && j < n) a += w[q] * x[j]; }
  o[i] = a;
}
torch::Tensor fwd(torch::Tensor x) {
  float w[7], norm = 0;
  for (int q = 0; q < 7; ++q) { w[q] = expf(-0.5f * (q - 3) * (q - 3) / 2.2501f); norm += w[q]; }
  for (float& v : w) v /= norm;
  auto t = torch::empty({7}, x.options()), o = torch::empty_like(x);
  cudaMemcpy(t.data_ptr<float>(), w, sizeof(w), cudaMemcpyHostToDevice);
  int n = x.numel();
  k<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), t.data_ptr<float>(), o.data_ptr<float>(), n);
  return o;
}
