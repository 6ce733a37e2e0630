import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

// A persistent grid of four blocks; each block adds its part of the mean with one atomic.
__global__ void huber_kernel(const float* __restrict__ pred, const float* __restrict__ target, float* __restrict__ loss,
                             float delta, int n) {
    __shared__ float warp_sums[4];
    float sum = 0.0f;
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float d = fabsf(pred[i] - target[i]);
        sum += d <= delta ? 0.5f * d * d : delta * (d - delta);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
        atomicAdd(loss, sum / n);
    }
}

torch::Tensor huber_loss(torch::Tensor pred, torch::Tensor target, double delta) {
    auto loss = torch::zeros({1}, pred.options());
    const int n = pred.numel();
    huber_kernel<<<4, 128>>>(pred.data_ptr<float>(), target.data_ptr<float>(), loss.data_ptr<float>(), (float)delta, n);
    return loss;
}
"""

huber = load_inline(
    name="huber_loss_atomic",
    cpp_sources="torch::Tensor huber_loss(torch::Tensor pred, torch::Tensor target, double delta);",
    cuda_sources=cuda_source,
    functions=["huber_loss"],
)


class ModelNew(nn.Module):
    def __init__(self, delta=1.0):
        super().__init__()
        self.delta = delta

    def forward(self, prediction, target):
        return huber.huber_loss(prediction.view(-1), target.view(-1), self.delta).squeeze(0)
