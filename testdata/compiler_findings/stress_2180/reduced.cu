// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 2.
extern "C" __global__ void stress_2180_backward(float* x, float* grad_x) {
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool lt_2 = 0;
    float mul_2 = 0;
    if (v < 0.5f) {
    } else {
      lt_2 = v < 0.5f;
      if (!lt_2) mul_2 = 1;
    }
    float adj_v = 0;
    if (lt_2) {
    } else adj_v = mul_2;
    grad_x[j] += adj_v;
  }
}
