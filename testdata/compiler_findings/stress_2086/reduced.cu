// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 1 and must be 2.
extern "C" __global__ void stress_2086_backward(float* x, float* grad_x) {
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    bool lt = 0;
    if (v > 1.0f) gt_1 = v > 1.0f;
    else lt = v < -0.5f;
    float adj_v = 0;
    if (gt_1) adj_v = 1;
    else {
      if (lt) adj_v = adj_v * v;
    }
    grad_x[j] += adj_v;
  }
}
