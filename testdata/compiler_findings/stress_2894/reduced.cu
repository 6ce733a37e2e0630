// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 2.
extern "C" __global__ void stress_2894_backward(float* x, int n, float* grad_x) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    bool and_ = 0;
    if (v > 0.0f) gt_1 = v > 0.5f;
    else and_ = v > 1.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (gt_1) adj_v = 1;
    else {
      if (and_) {
      } else adj_s_3 = adj_s_3 + 1;
    }
    grad_x[j] += adj_v;
  }
}
