// Softmax of 4 rows for each block. The rows come to shared memory and go back with the tensor memory accelerator,
// through the barriers of libcu++.
#include <cuda/barrier>

#include <cuda.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

#include <utility>

constexpr int kRows = 4;
constexpr int kColumns = 128;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

__global__ void softmax_kernel(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap out,
                               int columns) {
  __shared__ alignas(128) float tile[kRows][kColumns];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &x, 0, blockIdx.x * kRows, barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));

  float* row = tile[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  float largest = -INFINITY;
  for (int j = lane; j < columns; j += 32) largest = fmaxf(largest, row[j]);
  for (int distance = 16; distance > 0; distance /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
  float sum = 0.0f;
  for (int j = lane; j < kColumns; j += 32) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  for (int j = lane; j < columns; j += 32) row[j] /= sum;

  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&out, 0, blockIdx.x * kRows, tile);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

CUtensorMap map_of(const torch::Tensor& matrix) {
  CUtensorMap map{};
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.size(1)), static_cast<cuuint64_t>(matrix.size(0))};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(matrix.size(1)) * 4};
  const cuuint32_t box[] = {kColumns, kRows};
  const cuuint32_t element_strides[] = {1, 1};
  TORCH_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix.data_ptr<float>(), extents,
                                     strides, box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

torch::Tensor softmax(torch::Tensor x) {
  auto out = torch::empty_like(x);
  softmax_kernel<<<(x.size(0) + kRows - 1) / kRows, 32 * kRows>>>(map_of(x), map_of(out), x.size(1));
  return out;
}
