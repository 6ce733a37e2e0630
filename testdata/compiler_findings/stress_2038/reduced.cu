// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[1] is 3 and must be 2.
extern "C" __global__ void stress_2038_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    bool lt_1 = 0;
    bool and_ = 0;
    if (x[j] < 0.5f) lt_1 = 1;
    else and_ = x[j] > 0.0f;
    float adj_v = 0;
    if (x[j] < 0.5f) {
      if (lt_1) {
      } else adj_v = 1;
    }
    if (and_) {
    } else adj_v = adj_v + (grad_out ? grad_out[0] : 0);
    grad_x[j] += adj_v;
  }
}
