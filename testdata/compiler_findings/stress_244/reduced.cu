// NVRTC 13.0.88 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 3.
extern "C" __global__ void stress_244_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    if (v > -1.0f) {
      gt_1 = v > 1.0f;
      if (gt_1) {
      }
    }
    float adj_s_3 = 0;
    float adj_v = 0;
    if (v > -1.0f) {
      if (gt_1) adj_v = x[0];
      adj_s_3 = (grad_out ? grad_out[0] : 0) * x[0];
    }
    grad_x[j] += adj_v;
  }
}
