// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 3 and must be 2.
template <typename T> __device__ inline T maximum(T a, T b) {
  return b > a || a != a ? b : a;
}
extern "C" __global__ void stress_2632_backward(float* x, int n, float* grad_x, float* grad_out) {
  int checkpoint_at[4];
  float checkpoint_s[4];
  int iteration = 0;
  for (int j = 0; j < n; ++j) {
    checkpoint_s[iteration] = 1;
    iteration = 1;
  }
  for (int j = 1; j > -1; --j) {
    float s_1 = 0;
    s_1 = 1;
    float v = x[j] + s_1;
    bool gt_1 = 0;
    bool lt = 0;
    if (v > -0.5f) gt_1 = v > 1.0f;
    else lt = v < -1.0f;
    float adj_v = 0;
    if (v > -0.5f) {
      float adj_t_4 = grad_out[0];
      if (gt_1) {
      } else adj_v = adj_t_4 * s_1;
    }
    if (lt) {
    } else adj_v = adj_v + (((((((((grad_out ? grad_out[(int(0))] : 0))))))))) * s_1;
    grad_x[j] += adj_v;
  }
}
