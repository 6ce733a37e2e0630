// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 4 and must be 2.
extern "C" __global__ void stress_1689_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool and_ = 0;
    bool gt_1 = 0;
    if (v > 0.5f) and_ = v > 1.0f;
    else gt_1 = v > -0.5f;
    float adj_v = 0;
    if (and_) {
    } else adj_v = adj_v + v;
    if (gt_1) {
    } else adj_v = adj_v + (grad_out ? grad_out[0] : 0);
    grad_x[j] += adj_v;
  }
}
