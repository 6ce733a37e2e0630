#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void paged_kernel(const float* __restrict__ cache, const int* __restrict__ table, float* __restrict__ out, int pages, int page, int D) {
  const int p = blockIdx.x, n = blockIdx.y;
  const int block = table[n * pages + p];
  const size_t count = (size_t)page * D;
  const float* src = cache + block * count;
  float* dst = out + ((size_t)n * pages + p) * count;
  if (count % 4 == 0) {
    for (int e = threadIdx.x; e < count / 4; e += blockDim.x) reinterpret_cast<float4*>(dst)[e] = reinterpret_cast<const float4*>(src)[e];
  } else {
    for (int e = threadIdx.x; e < count; e += blockDim.x) dst[e] = src[e];
  }
}
torch::Tensor paged(torch::Tensor cache, torch::Tensor table) {
  const int page = cache.size(1), D = cache.size(2), N = table.size(0), pages = table.size(1);
  auto out = torch::empty({N, pages * page, D}, cache.options());
  if (out.numel() > 0) paged_kernel<<<dim3(pages, N), 64>>>(cache.data_ptr<float>(), table.data_ptr<int>(), out.data_ptr<float>(), pages, page, D);
  return out;
}
