// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[1] is 2 and must be 3.
template <typename T> __device__ inline T maximum(T a, T b) {
  return b > a || a != a ? b : a;
}
extern "C" __global__ void stress_2829_backward(float* x, int n, float* grad_x, float* grad_out) {
  float checkpoint_s[4];
  float adj_s_1 = 0;
  for (int j = n; j > -1; --j) {
    bool lt_1 = 0;
    bool gt = 0;
    if (x[j] < 0.5f) lt_1 = x[j] < 0.0f;
    else gt = x[j] > 1.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    adj_s_3 = 1;
    float adj_t_4 = grad_out[0];
    if (lt_1) adj_s_3 = adj_s_3 + adj_t_4;
    if (gt) {
    } else adj_v = adj_v + adj_s_1;
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
