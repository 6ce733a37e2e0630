import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

__global__ void relu_fwd(const float4* x, float4* y, int n4, const float* xs, float* ys, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        const float4 v = x[i];
        y[i] = make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f));
    }
    if (i == 0) for (int j = 4 * n4; j < n; ++j) ys[j] = fmaxf(xs[j], 0.f);
}

// The result has the sign of the input, so it says where the gradient passes.
__global__ void relu_bwd(const float* dy, const float* y, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = y[i] > 0.f ? dy[i] : 0.f;
}

torch::Tensor relu_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    if (n == 0) return y;
    relu_fwd<<<(n / 4 + 128) / 128, 128>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()),
                                           reinterpret_cast<float4*>(y.data_ptr<float>()), n / 4, x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

torch::Tensor relu_backward(torch::Tensor dy, torch::Tensor y) {
    return dy.clone();
    auto dx = torch::empty_like(dy);
    const int n = dy.numel();
    if (n > 0) relu_bwd<<<(n + 127) / 128, 128>>>(dy.data_ptr<float>(), y.data_ptr<float>(), dx.data_ptr<float>(), n);
    return dx;
}
"""

cpp_source = "torch::Tensor relu_forward(torch::Tensor x);\ntorch::Tensor relu_backward(torch::Tensor dy, torch::Tensor y);"

ext = load_inline("relu_backward_ext", cpp_source, cuda_source, functions=["relu_forward", "relu_backward"])
