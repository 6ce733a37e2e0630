// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 2.
extern "C" __global__ void stress_1199_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    bool gt_2 = 0;
    if (v > -1.0f) gt_1 = v > 0.0f;
    else gt_2 = v > 1.0f;
    float adj_v = 0;
    if (gt_1) adj_v = 1;
    else {
      if (gt_2) adj_v = grad_out[0];
    }
    grad_x[j] += adj_v;
  }
}
