#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ float iou(const float* a, const float* b) {
  const float w = fminf(a[2], b[2]) - fmaxf(a[0], b[0]), h = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
  const float inter = fmaxf(w, 0.f) * fmaxf(h, 0.f);
  return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter + 1e-6f);
}
__global__ void nms_kernel(const float* __restrict__ box, float threshold, int* keep, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) keep[i] = 1;
  __syncthreads();
  for (int j = 0; j < n; ++j) {
    if (keep[j]) {
      for (int i = j + 1 + threadIdx.x; i < n; i += blockDim.x)
        if (keep[i] && box[i * 4 + 2] > box[i * 4] && iou(box + i * 4, box + j * 4) > threshold) keep[i] = 0;
    }
    __syncthreads();
  }
}
torch::Tensor nms(torch::Tensor box, float threshold) {
  const int n = box.size(0);
  auto keep = torch::empty({n}, box.options().dtype(torch::kInt32));
  if (n > 0) nms_kernel<<<1, 64>>>(box.data_ptr<float>(), threshold, keep.data_ptr<int>(), n);
  return keep;
}
