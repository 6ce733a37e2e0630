// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 1.25.
extern "C" __global__ void stress_1968_backward(float* x, int n, float* grad_x) {
  float adj_s_1 = 1;
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool and_ = 0;
    if (v > 0.0f) and_ = 1;
    bool gt_1 = 0;
    bool lt = 0;
    bool lt_1 = 0;
    if (and_) {
      gt_1 = v > 0.5f;
      if (gt_1) {
        if (lt) {
        }
      } else {
        if (lt_1) {
        }
      }
    }
    float adj_s_3 = 0;
    float adj_v = 0;
    if (and_) {
      if (gt_1) {
        if (lt) adj_s_3 = adj_s_3 + adj_s_1;
        else {
          adj_v = adj_v + adj_s_1;
          adj_s_3 = adj_s_3 + (0 - adj_s_1) * 0.5f;
        }
      } else adj_s_3 = adj_s_3 + adj_s_1;
    } else adj_s_3 = adj_s_3 + adj_s_1;
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
