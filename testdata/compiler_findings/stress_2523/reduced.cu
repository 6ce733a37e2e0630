// NVRTC 12.9.86 compute_100 compiles this function incorrectly.
// With int n = 3; float grad_x[] = {1, 1, 1, 1}, grad_x[0] is 2 and must be 1.
extern "C" __global__ void stress_2523_backward(int n, float* grad_x) {
  float checkpoint_s[4];
  int iteration = 0;
  for (int j = 0; j < n; ++j) {
    checkpoint_s[iteration] = 1;
    iteration = 1;
  }
  for (int j = 1; j > -1; --j) {
    float s_1 = 0;
    s_1 = checkpoint_s[j];
    bool gt = s_1 > 0.0f;
    bool gt_1 = 0;
    bool lt = 0;
    if (gt) gt_1 = s_1 > 0.5f;
    else lt = s_1 < 0.5f;
    float adj_v = 0;
    if (gt) {
      if (gt_1) {
      } else adj_v = adj_v + s_1;
    }
    grad_x[j] += adj_v != 0.0f ? adj_v : 0.0f;
  }
}
