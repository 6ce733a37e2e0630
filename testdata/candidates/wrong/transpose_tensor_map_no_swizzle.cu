// Transposes with the tensor memory accelerator: tiles of 32 x 32 floats come to shared memory in swizzled rows of 128
// bytes, and go back to global memory from another buffer.
#include <cuda.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

constexpr int kTile = 32;
constexpr int kThreads = 256;

__device__ unsigned address_of(const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }

__device__ void load_tile(void* tile, const CUtensorMap& map, int column, int row, void* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          address_of(tile)),
      "l"(&map), "r"(column), "r"(row), "r"(address_of(barrier))
      : "memory");
}

__device__ void store_tile(const CUtensorMap& map, int column, int row, const void* tile) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(column),
               "r"(row), "r"(address_of(tile))
               : "memory");
}

__device__ void wait_for_phase(void* barrier, unsigned parity) {
  asm volatile(
      "{\n .reg .pred complete;\n"
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      " @!complete bra WAIT;\n}" ::"r"(address_of(barrier)),
      "r"(parity)
      : "memory");
}

__global__ void transpose_kernel(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap out,
                                 int row_tiles) {
  __shared__ alignas(1024) float loaded[kTile * kTile];
  __shared__ alignas(1024) float transposed[kTile * kTile];
  __shared__ alignas(8) unsigned long long barrier;
  const int column = blockIdx.x * kTile;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int tile = 0; tile < row_tiles; ++tile) {
    const int row = tile * kTile;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&barrier)),
                   "r"(kTile * kTile * 4)
                   : "memory");
      load_tile(loaded, x, column, row, &barrier);
    }
    wait_for_phase(&barrier, tile & 1);
    for (int k = threadIdx.x; k < kTile * kTile; k += kThreads) {
      const int i = k % kTile, j = k / kTile;
      const int chunk = j / 4;
      transposed[j * kTile + i] = loaded[i * kTile + chunk * 4 + j % 4];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      store_tile(out, row, column, transposed);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

CUtensorMap map_of(const torch::Tensor& matrix, CUtensorMapSwizzle swizzle) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  TORCH_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) ==
              cudaSuccess);
  CUtensorMap map{};
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.size(1)), static_cast<cuuint64_t>(matrix.size(0))};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(matrix.size(1)) * 4};
  const cuuint32_t box[] = {kTile, kTile};
  const cuuint32_t element_strides[] = {1, 1};
  const CUresult result = reinterpret_cast<Encode>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix.data_ptr<float>(), extents, strides, box, element_strides,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TORCH_CHECK(result == CUDA_SUCCESS, "no tensor map for this matrix");
  return map;
}

torch::Tensor transpose(torch::Tensor x) {
  auto out = torch::empty({x.size(1), x.size(0)}, x.options());
  const CUtensorMap in_map = map_of(x, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap out_map = map_of(out, CU_TENSOR_MAP_SWIZZLE_NONE);
  const int column_tiles = (x.size(1) + kTile - 1) / kTile, row_tiles = (x.size(0) + kTile - 1) / kTile;
  transpose_kernel<<<column_tiles, kThreads>>>(in_map, out_map, row_tiles);
  return out;
}
