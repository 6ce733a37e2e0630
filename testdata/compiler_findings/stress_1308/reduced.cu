// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[1] is 2 and must be 1.
extern "C" __global__ void stress_1308_backward(float* x, int n, float* grad_x) {
  float adj_s_1 = 1;
  for (int j = n - 1; j > -1; --j) {
    bool lt_1 = 0;
    bool lt_2 = 0;
    if (x[j] + 0.25f < 0.0f) lt_1 = x[j] + 0.25f < -0.5f;
    else lt_2 = x[j] + 0.25f < 0.5f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (x[j] < 0.0f) {
      if (lt_1) {
      } else adj_s_3 = 0 > x[j] ? adj_s_1 : 0.0f;
    } else {
      if (lt_2) {
      } else adj_v = adj_v + adj_s_1;
    }
    grad_x[j] += adj_v != 0.0f ? adj_v : 0.0f;
    adj_s_1 = adj_s_3;
  }
}
