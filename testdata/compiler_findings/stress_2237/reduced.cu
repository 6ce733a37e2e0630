// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_2237_backward(float* x, int n, float* grad_x) {
  float adj_s_1 = 0;
  for (int j = n; j > -1; --j) {
    bool gt_1 = 0;
    if (x[j] > -0.5f) gt_1 = x[j] > 1.0f;
    float adj_s_3 = 0;
    float adj_v = 0;
    if (x[j] > -0.5f) {
      if (gt_1) {
      } else {
        adj_v = 1;
        adj_s_3 = adj_s_1;
      }
    }
    grad_x[j] += adj_v;
    adj_s_1 = adj_s_3;
  }
}
