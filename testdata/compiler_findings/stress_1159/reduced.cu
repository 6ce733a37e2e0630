// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[2] is 1 and must be 2.
extern "C" __global__ void stress_1159_backward(float* x, int n, float* grad_x) {
  float adj_s_1 = 1;
  for (int j = n - 1; j > -1; --j) {
    bool lt_1 = 0;
    bool gt = 0;
    if (x[j] < 1.0f) lt_1 = x[j] < -1.0f;
    else gt = 1;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (lt_1) adj_v = adj_s_1;
    else {
      if (gt) {
      } else adj_s_3 = adj_s_3 + adj_s_1;
    }
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
