// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With float x[] = {2, 1, -1.875, 1.375}; float grad_x[] = {1, 1, 1, 1}; float grad_out[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_1217_backward(float* x, float* grad_x, float* grad_out) {
  for (int j = 1; j > -1; --j) {
    float v = x[j];
    bool gt = v > -0.5f;
    bool and_ = 0;
    float mul = 0;
    if (gt) and_ = v > 0.5f;
    else mul = 0 * v;
    float adj_s_2 = grad_out[0];
    float adj_v = 0;
    if (gt) {
      if (and_) {
      } else adj_v = adj_s_2;
    }
    grad_x[j] += adj_v;
  }
}
