// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[1] is 2 and must be 1.
extern "C" __global__ void stress_1280_backward(float* x, int n, float* grad_x) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool lt_1 = 0;
    bool gt = 0;
    if (v < 0.5f) lt_1 = v < 0.5f;
    else gt = v > 0.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (v < 0.5f) {
      if (lt_1) {
      } else adj_v = 1;
    } else {
      if (gt) adj_s_3 = adj_s_3 + 1;
    }
    grad_x[j] += adj_v;
  }
}
