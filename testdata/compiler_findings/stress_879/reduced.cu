// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_879_backward(float* x, float* grad_x) {
  float adj_s_1 = 1;
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool and_ = 0;
    if (v > 0.0f) and_ = 1;
    bool gt_1 = 0;
    float mul = 0;
    bool gt_2 = 0;
    if (and_) gt_1 = v > 1.0f;
    else gt_2 = v > 1.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (and_) {
      if (gt_1) {
      } else adj_v = cos(mul);
    } else {
      if (gt_2) {
      } else adj_s_3 = adj_s_3 + adj_s_1;
    }
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
