// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_724_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool gt_1 = 0;
    bool lt = 0;
    if (v > -1.0f) gt_1 = v > 0.5f;
    else lt = v < 1.0f;
    float adj_v = 0;
    if (gt_1) {
    } else adj_v = grad_out[0];
    if (lt) adj_v = 0;
    grad_x[j] += adj_v;
  }
}
