// Products of matrices with the functions of nvcuda::wmma, for all shapes and types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

/// c = 2 * a * b for a of 16 by n and b of n by 16.
extern "C" __global__ void half_product(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
#pragma unroll 1
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fragment_a, a + k, n);
    wmma::load_matrix_sync(fragment_b, b + k * 16, 16);
    wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  }
  for (int i = 0; i < sums.num_elements; ++i)
    sums.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}

/// c = a * b + c for a of 8 by 16 and b of 16 by 32, with sums in half precision.
extern "C" __global__ void half_sums(const half* a, const half* b, half* c) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, half, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::col_major> fragment_b;
  wmma::fragment<wmma::accumulator, 8, 32, 16, half> sums;
  wmma::load_matrix_sync(fragment_a, a, 16);
  wmma::load_matrix_sync(fragment_b, b, 16);
  wmma::load_matrix_sync(sums, c, 32, wmma::mem_row_major);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(c, sums, 32, wmma::mem_row_major);
}

/// The transpose of c = a * b for a of 32 by 16 and b of 16 by 8, through shared memory.
extern "C" __global__ void bfloat16_product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  __shared__ __align__(32) float tile[256];
  wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::col_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> fragment_b;
  wmma::fragment<wmma::accumulator, 32, 8, 16, float> sums;
  wmma::load_matrix_sync(fragment_a, a, 32);
  wmma::load_matrix_sync(fragment_b, b, 8);
  wmma::fill_fragment(sums, 0.0f);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(tile, sums, 32, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    c[i] = tile[i];
}

/// c = a * b for a of 16 by 16 and b of 16 by 16, of 8-bit integers.
extern "C" __global__ void byte_product(const signed char* a, const signed char* b, int* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sums;
  wmma::load_matrix_sync(fragment_a, a, 16);
  wmma::load_matrix_sync(fragment_b, b, 16);
  wmma::fill_fragment(sums, 0);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}

/// c = a * b + c for a of 16 by 8 and b of 8 by 16, of floats that are rounded to tf32.
extern "C" __global__ void tf32_product(const float* a, const float* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums;
  wmma::load_matrix_sync(fragment_a, a, 8);
  wmma::load_matrix_sync(fragment_b, b, 8);
  wmma::load_matrix_sync(sums, c, 16, wmma::mem_row_major);
  for (int i = 0; i < fragment_a.num_elements; ++i)
    fragment_a.x[i] = wmma::__float_to_tf32(fragment_a.x[i]);
  for (int i = 0; i < fragment_b.num_elements; ++i)
    fragment_b.x[i] = wmma::__float_to_tf32(fragment_b.x[i]);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}
