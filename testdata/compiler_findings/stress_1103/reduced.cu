// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[1] is 2 and must be 1.
extern "C" __global__ void stress_1103_backward(float* x, int n, float* grad_x) {
  float adj_s_1 = 1;
  for (int j = n - 1; j > -1; --j) {
    float v = x[j];
    bool lt = v < 0.0f;
    bool lt_1 = 0;
    bool and_ = 0;
    if (lt) lt_1 = v < -0.5f;
    else and_ = v > -1.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (lt) {
      if (lt_1) {
      } else adj_s_3 = adj_s_3 + adj_s_1;
    }
    adj_v = adj_s_1;
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
