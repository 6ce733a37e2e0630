#include <torch/extension.h>
#include <cuda_runtime.h>

// A single block walks over the array in chunks of 256 with a ballot scan.
__global__ void compact_kernel(const float* __restrict__ x, float* __restrict__ out, int* __restrict__ count, int n) {
  __shared__ int warp_count[8];
  __shared__ int base;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) base = 0;
  __syncthreads();
  for (int i0 = 0; i0 < n; i0 += 256) {
    const int i = i0 + threadIdx.x;
    const float v = i < n ? x[i] : 0.f;
    const bool keep = v > 0.f;
    const unsigned mask = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) warp_count[warp] = __popc(mask);
    __syncthreads();
    int offset = base;
    for (int w = 0; w < warp; ++w) offset += warp_count[w];
    if (keep) out[offset + __popc(mask & ((1u << lane) - 1))] = v;
    __syncthreads();
    if (threadIdx.x == 255) base = offset + warp_count[warp];
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = base;
}
std::vector<torch::Tensor> compact(torch::Tensor x) {
  auto out = torch::zeros_like(x);
  auto count = torch::empty({1}, x.options().dtype(torch::kInt32));
  compact_kernel<<<1, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), count.data_ptr<int>(), x.size(0));
  return {out, count};
}
