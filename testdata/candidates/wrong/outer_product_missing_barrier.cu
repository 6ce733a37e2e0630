// c = a b^T; the rows of c are `pitch` elements apart. A block of 32 x 8 threads computes 32 x 32 elements; both vectors are staged in shared memory.
extern "C" __global__ void outer_product_kernel(const float* __restrict__ a, const float* __restrict__ b,
                                                float* __restrict__ c, int rows, int columns, int pitch) {
  __shared__ float a_part[32];
  __shared__ float b_part[32];
  const int row0 = blockIdx.y * 32;
  const int column0 = blockIdx.x * 32;
  if (threadIdx.y == 0) {
    const int row = row0 + threadIdx.x;
    a_part[threadIdx.x] = row < rows ? a[row] : 0.0f;
  }
  if (threadIdx.y == 1) {
    const int column = column0 + threadIdx.x;
    b_part[threadIdx.x] = column < columns ? b[column] : 0.0f;
  }
  const int column = column0 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += blockDim.y) {
    const int row = row0 + r;
    if (row < rows && column < columns) c[row * pitch + column] = a_part[r] * b_part[threadIdx.x];
  }
}
