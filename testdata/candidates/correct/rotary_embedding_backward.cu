#include <torch/extension.h>
#include <cuda_runtime.h>


__global__ void rope(const float* x, const float* c, const float* s, float* o, int rows, int half, int width, float sign) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= rows * half) return;
  int i = t / half, j = t % half;
  float a = x[i * width + j], b = x[i * width + j + half], cc = c[t], ss = sign * s[t];
  o[i * width + j] = a * cc - b * ss;
  o[i * width + j + half] = b * cc + a * ss;
}
__global__ void angles(const float* d, const float* x, float* dc, float* ds, int rows, int half, int width) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= rows * half) return;
  int i = t / half, j = t % half;
  float a = x[i * width + j], b = x[i * width + j + half], da = d[i * width + j], db = d[i * width + j + half];
  dc[t] = da * a + db * b;
  ds[t] = db * a - da * b;
}
torch::Tensor fwd(torch::Tensor x, torch::Tensor c, torch::Tensor s) {
  auto o = torch::zeros_like(x); int rows = c.size(0), half = c.size(1), n = rows * half;
  if (n) rope<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), c.data_ptr<float>(), s.data_ptr<float>(), o.data_ptr<float>(), rows, half, x.size(1), 1.f);
  return o;
}
std::vector<torch::Tensor> bwd(torch::Tensor d, torch::Tensor x, torch::Tensor c, torch::Tensor s) {
  auto dx = torch::zeros_like(x), dc = torch::empty_like(c), ds = torch::empty_like(s); int rows = c.size(0), half = c.size(1), n = rows * half;
  if (n) {
    rope<<<(n + 127) / 128, 128>>>(d.data_ptr<float>(), c.data_ptr<float>(), s.data_ptr<float>(), dx.data_ptr<float>(), rows, half, x.size(1), -1.f);
    angles<<<(n + 127) / 128, 128>>>(d.data_ptr<float>(), x.data_ptr<float>(), dc.data_ptr<float>(), ds.data_ptr<float>(), rows, half, x.size(1));
  }
  return {dx, dc, ds};
}
