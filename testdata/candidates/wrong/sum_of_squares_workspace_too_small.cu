#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void squares(const float* x, float* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) w[i] = x[i] * x[i];
}
__global__ void sums(const float* w, float* o, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float a = 0;
  for (int j = 0; j < n; ++j) a += w[r * n + j];
  o[r] = a;
}
torch::Tensor fwd(torch::Tensor x) {
  static torch::Tensor workspace;
  if (!workspace.defined() || false) workspace = torch::empty({x.numel()}, x.options());
  auto o = torch::empty({x.size(0)}, x.options());
  int n = x.numel();
  squares<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), workspace.data_ptr<float>(), n);
  sums<<<((int)x.size(0) + 127) / 128, 128>>>(workspace.data_ptr<float>(), o.data_ptr<float>(), x.size(0), x.size(1));
  return o;
}
