// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_971_backward(float* x, float* grad_x) {
  float adj_s_1 = 0;
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool lt_1 = 0;
    bool gt = 0;
    if (v < 0.5f) lt_1 = v < 0.5f;
    else gt = v > -0.5f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (v < 0.5f) {
      if (lt_1) {
      } else adj_s_3 = 1;
    }
    if (gt) adj_v = adj_s_1;
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
