// Scaled dot product attention with the scores in global memory: scores, softmax of the scores, weighted sum.
#include <torch/extension.h>

__global__ void scores_kernel(const float* query, const float* key, float* scores, int heads, int queries, int keys,
                              int features) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y;
  const int head = blockIdx.z;
  if (j >= keys) return;
  const float* q = query + (head * queries + i) * features;
  const float* k = key + (head * keys + j) * features;
  float dot = 0.0f;
  for (int d = 0; d < features; ++d) dot += q[d] * k[d];
  scores[(head * queries + i) * keys + j] = dot / float(features);
}

__global__ void softmax_in_place_kernel(float* scores, int keys) {
  __shared__ float partial[64];
  float* row = scores + blockIdx.x * keys;
  const int t = threadIdx.x;
  float largest = -INFINITY;
  for (int j = t; j < keys; j += 64) largest = fmaxf(largest, row[j]);
  partial[t] = largest;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) partial[t] = fmaxf(partial[t], partial[t + half]);
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = t; j < keys; j += 64) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  partial[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  const float inverse = 1.0f / partial[0];
  for (int j = t; j < keys; j += 64) row[j] *= inverse;
}

__global__ void weighted_sum_kernel(const float* weights, const float* value, float* out, int queries, int keys,
                                    int features) {
  const int d = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y;
  const int head = blockIdx.z;
  if (d >= features) return;
  float sum = 0.0f;
  for (int j = 0; j < keys; ++j)
    sum += weights[(head * queries + i) * keys + j] * value[(head * keys + j) * features + d];
  out[(head * queries + i) * features + d] = sum;
}

torch::Tensor attention(torch::Tensor query, torch::Tensor key, torch::Tensor value) {
  const int heads = query.size(0) * query.size(1);
  const int queries = query.size(2), keys = key.size(2);
  auto out = torch::empty({query.size(0), query.size(1), queries, value.size(3)}, query.options());
  if (heads * queries == 0) return out;
  auto scores = torch::empty({heads, queries, keys}, query.options());
  scores_kernel<<<dim3((keys + 63) / 64, queries, heads), 64>>>(
      query.data_ptr<float>(), key.data_ptr<float>(), scores.data_ptr<float>(), heads, queries, keys, query.size(3));
  softmax_in_place_kernel<<<heads * queries, 64>>>(scores.data_ptr<float>(), keys);
  const int features = value.size(3);
  weighted_sum_kernel<<<dim3((features + 63) / 64, queries, heads), 64>>>(
      scores.data_ptr<float>(), value.data_ptr<float>(), out.data_ptr<float>(), queries, keys, features);
  return out;
}
