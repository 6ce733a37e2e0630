// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {0.5, 0.375, -2, 1.625}; int n = 3; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[2] is 1 and must be 2.
extern "C" __global__ void stress_2414_backward(float* x, int n, float* grad_x, float* grad_out) {
  for (int j = n; j > -1; --j) {
    float v = x[j];
    bool and_ = 0;
    if (v < -0.5f) and_ = 1;
    bool lt_1 = 0;
    bool lt_2 = 0;
    if (and_) lt_1 = v < -0.5f;
    else lt_2 = v < -1.0f;
    float adj_v = 0;
    if (lt_1) adj_v = grad_out[0];
    if (lt_2) {
    } else adj_v = adj_v + (0 > v ? 0.0f : grad_out ? grad_out[0] : 0);
    grad_x[j] += adj_v;
  }
}
