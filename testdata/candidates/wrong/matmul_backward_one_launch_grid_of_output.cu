// Matrix product, and both gradients in one launch: the blocks with z = 0 compute that of a, those with z = 1 that of b.
constexpr int kTile = 8;

__device__ void multiply(const float* a, int a_row, int a_column, const float* b, int b_row, int b_column, float* c,
                         int rows, int inner, int columns) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int i = blockIdx.y * kTile + threadIdx.y, j = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < inner; first += kTile) {
    const int ka = first + threadIdx.x, kb = first + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = i < rows && ka < inner ? a[(long long)i * a_row + (long long)ka * a_column] : 0.0f;
    right[threadIdx.y][threadIdx.x] = kb < inner && j < columns ? b[(long long)kb * b_row + (long long)j * b_column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (i < rows && j < columns) c[(long long)i * columns + j] = sum;
}

__global__ void matmul(const float* a, const float* b, float* c, int m, int k, int n) { multiply(a, k, 1, b, n, 1, c, m, k, n); }

__global__ void matmul_backward(const float* dc, const float* a, const float* b, float* da, float* db, int m, int k, int n) {
  if (blockIdx.z == 0) multiply(dc, n, 1, b, 1, n, da, m, n, k);
  else multiply(a, 1, k, dc, n, 1, db, k, m, n);
}
