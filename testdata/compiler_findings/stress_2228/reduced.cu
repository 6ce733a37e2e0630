// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 3 and must be 1.
extern "C" __global__ void stress_2228_backward(float* x, int n, float* grad_x) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool gt = v > -1.0f;
    bool gt_1 = 0;
    bool lt = 0;
    if (gt) gt_1 = v > 1.0f;
    else lt = v < 0.5f;
    float adj_v = 0;
    if (gt) {
      if (gt_1) {
      } else adj_v = adj_v + v;
    }
    grad_x[j] += adj_v;
  }
}
