// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 2.
extern "C" __global__ void stress_441_backward(float* x, float* grad_x) {
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool lt_1 = 0;
    float mul = 0;
    if (v < 1.0f) {
    } else {
      lt_1 = v < 1.0f;
      if (!lt_1) mul = 1;
    }
    float adj_v = 0;
    if (lt_1) {
    } else adj_v = mul;
    grad_x[j] += adj_v;
  }
}
