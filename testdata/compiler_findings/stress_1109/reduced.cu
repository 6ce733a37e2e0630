// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[2] is 1 and must be 2.
extern "C" __global__ void stress_1109_backward(float* x, int n, float* grad_x) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool and_ = 0;
    if (v < -1.0f) and_ = 1;
    bool lt_1 = 0;
    bool gt = 0;
    float mul = 0;
    if (and_) lt_1 = v < -1.0f;
    else gt = v > -1.0f;
    float adj_v = 0;
    if (lt_1) adj_v = 1;
    else {
      if (gt) {
      } else float adj_mul_1 = cos(mul);
    }
    grad_x[j] += adj_v;
  }
}
