// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_404_backward(float* x, float* grad_x, float* grad_out) {
  for (int j = 1; j > -1; --j) {
    float s_1 = 0;
    s_1 = 1;
    float v = x[j] + s_1;
    bool gt = v > -0.5f;
    bool gt_1 = 0;
    if (gt) {
      gt_1 = v > 0.5f;
      if (gt_1) {
      }
    }
    float adj_s_2 = grad_out[0];
    float adj_v = 0;
    if (gt) {
      if (gt_1) {
      } else adj_v = adj_s_2;
    }
    grad_x[j] += adj_v;
  }
}
