import torch
import torch.utils.cpp_extension

cuda_sources = [
    """
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset >= 1; offset >>= 1) v += __shfl_xor_sync(~0u, v, offset, 32);
  return v;
}

__global__ void __launch_bounds__(256) row_sum_kernel(const float *__restrict__ x, float *__restrict__ out, int cols) {
  __shared__ float partial[8];
  const int row = blockIdx.x;
  float v = 0.f;
  for (int j = threadIdx.x; j < cols; j += 256) v += x[row * cols + j];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x < 8) v = partial[threadIdx.x];
    v = warp_sum(v);
    if (threadIdx.x == 0) out[row] = v;
  }
}

at::Tensor row_sum_forward(at::Tensor x) {
  const c10::cuda::CUDAGuard guard(x.device());
  x = x.contiguous();
  at::Tensor out = at::empty({x.size(0)}, x.options());
  if (x.size(0) == 0) return out;
  auto stream = c10::cuda::getCurrentCUDAStream();
  row_sum_kernel<<<x.size(0), 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), (int)x.size(1));
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}
""",
]

module = torch.utils.cpp_extension.load_inline(
    name="row_sum_two_results_by_warp",
    cpp_sources=["""
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
at::Tensor row_sum_forward(at::Tensor x);
"""],
    cuda_sources=cuda_sources,
    functions=["row_sum_forward"],
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O2", "-lineinfo"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.row_sum_forward(*tensors)
