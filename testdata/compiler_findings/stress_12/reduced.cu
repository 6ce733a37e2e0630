// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_12_backward(float* x, int n, float* grad_x, float* grad_out) {
  float checkpoint_s[4];
  int iteration = 0;
  for (int j = 0; j < n; ++j) {
    checkpoint_s[iteration] = 1.5f;
    iteration = 1;
  }
  for (int j = 1; j > -1; --j) {
    float s_1 = 0;
    s_1 = checkpoint_s[j];
    bool gt_1 = 0;
    bool gt_2 = 0;
    if (x[j] * 0.5f + s_1 * 0.25f > 0.0f) gt_1 = x[j] * 0.5f + s_1 * 0.25f > 0.5f;
    else gt_2 = 1;
    float adj_v = 0;
    if (x[j] > 0.0f) {
      if (gt_1) {
      } else adj_v = grad_out[0];
    } else {
      if (gt_2) {
      } else adj_v = grad_out ? grad_out[0] : 0;
    }
    grad_x[j] += adj_v != 0.0f ? adj_v : 0.0f;
  }
}
