import torch
from torch.utils.cpp_extension import load_inline

cuda = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#define BLOCK 256

// Online maximum and sum in one pass over the row.
__global__ void ce_fwd(const float* logits, const long* labels, float* loss, float* lse, int classes) {
    __shared__ float maxima[BLOCK], sums[BLOCK];
    const float* row = logits + (size_t)blockIdx.x * classes;
    float m = -CUDART_INF_F, s = 0.0f;
    for (int j = threadIdx.x; j < classes; j += BLOCK) {
        const float v = row[j];
        if (v > m) {
            s = s * expf(m - v) + 1.0f;
            m = v;
        } else {
            s += expf(v - m);
        }
    }
    maxima[threadIdx.x] = m;
    sums[threadIdx.x] = s;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            const float a = maxima[threadIdx.x], b = maxima[threadIdx.x + half];
            const float top = fmaxf(a, b);
            if (top > -CUDART_INF_F) {
                sums[threadIdx.x] = sums[threadIdx.x] * expf(a - top) + sums[threadIdx.x + half] * expf(b - top);
                maxima[threadIdx.x] = top;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float l = maxima[0] + logf(sums[0]);
        lse[blockIdx.x] = maxima[0] + log2f(sums[0]);
        loss[blockIdx.x] = l - row[labels[blockIdx.x]];
    }
}

__global__ void ce_bwd(const float* grad, const float* logits, const long* labels, const float* lse, float* dlogits,
                       int rows, int classes) {
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < (size_t)rows * classes;
         k += (size_t)gridDim.x * blockDim.x) {
        const int i = k / classes, j = k % classes;
        const float p = expf(logits[k] - lse[i]);
        dlogits[k] = (p - (labels[i] == j ? 1.0f : 0.0f)) * grad[i];
    }
}

std::vector<torch::Tensor> ce_forward(torch::Tensor logits, torch::Tensor labels) {
    TORCH_CHECK(logits.dim() == 2, "logits must have two dimensions");
    const auto rows = logits.size(0), classes = logits.size(1);
    auto loss = torch::empty({rows}, logits.options());
    auto lse = torch::empty({rows}, logits.options());
    if (rows > 0) ce_fwd<<<rows, BLOCK>>>(logits.data_ptr<float>(), labels.data_ptr<long>(), loss.data_ptr<float>(), lse.data_ptr<float>(), classes);
    return {loss, lse};
}

torch::Tensor ce_backward(torch::Tensor grad, torch::Tensor logits, torch::Tensor labels, torch::Tensor lse) {
    const auto rows = logits.size(0), classes = logits.size(1);
    auto dlogits = torch::empty_like(logits);
    const int blocks = std::min<int64_t>((logits.numel() + BLOCK - 1) / BLOCK, 64);
    if (blocks > 0) ce_bwd<<<blocks, BLOCK>>>(grad.data_ptr<float>(), logits.data_ptr<float>(), labels.data_ptr<long>(), lse.data_ptr<float>(), dlogits.data_ptr<float>(), rows, classes);
    return dlogits;
}
"""

cpp = """
std::vector<torch::Tensor> ce_forward(torch::Tensor logits, torch::Tensor labels);
torch::Tensor ce_backward(torch::Tensor grad, torch::Tensor logits, torch::Tensor labels, torch::Tensor lse);
"""

ce = load_inline("ce_saved", cpp, cuda, functions=["ce_forward", "ce_backward"])


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels):
        loss, lse = ce.ce_forward(logits, labels)
        ctx.save_for_backward(logits, labels, lse)
        return loss

    @staticmethod
    def backward(ctx, grad):
        return ce.ce_backward(grad.contiguous(), *ctx.saved_tensors), None
