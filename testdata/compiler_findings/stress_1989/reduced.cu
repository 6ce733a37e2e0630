// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; float grad_x[] = {1, 1, 1, 1}, grad_x[1] is 1 and must be 2.
extern "C" __global__ void stress_1989_backward(float* x, float* grad_x) {
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    bool gt_2 = 0;
    float mul = 0;
    gt_1 = v > 1.0f;
    if (gt_1) {
    } else {
      gt_2 = v > 1.0f;
      if (!gt_2) mul = 1;
    }
    float adj_v = 0;
    if (gt_2) {
    } else adj_v = mul;
    grad_x[j] += adj_v;
  }
}
