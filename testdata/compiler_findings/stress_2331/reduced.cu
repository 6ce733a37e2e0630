// NVRTC 13.0.88 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[2] is 1 and must be 2.
extern "C" __global__ void stress_2331_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool lt_1 = 0;
    bool lt_2 = 0;
    bool lt_3 = 0;
    if (v > -0.5f) {
    } else {
      lt_1 = v < -0.5f;
      if (lt_1) lt_2 = v < -1.0f;
      else lt_3 = v < -1.0f;
    }
    float adj_s_3 = 0;
    float adj_v = 0;
    if (lt_1) {
      if (lt_2) adj_v = grad_out[0];
    } else {
      if (lt_3) {
      } else adj_s_3 = grad_out[0];
    }
    grad_x[j] += adj_v;
  }
}
