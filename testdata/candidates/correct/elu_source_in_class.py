import textwrap

import torch
import torch.nn as nn
import torch.utils.cpp_extension as cpp


class ELUFunction:
    cuda = textwrap.dedent(
        """
        #include <torch/extension.h>

        __global__ void elu_kernel(const float* in, float* out, float alpha, long n) {
          for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) {
            const float v = in[i];
            out[i] = v > 0.f ? v : alpha * expm1f(v);
          }
        }

        at::Tensor elu(const at::Tensor& in, double alpha) {
          at::Tensor out = at::empty_like(in);
          elu_kernel<<<2, 96>>>(in.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(alpha), in.numel());
          return out;
        }
        """
    )
    cpp = "at::Tensor elu(const at::Tensor& in, double alpha);"

    def __init__(self):
        self.module = cpp.load_inline(name="elu_ext", cpp_sources=[self.cpp], cuda_sources=[self.cuda], functions=["elu"])


class ModelNew(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha
        self.function = ELUFunction()

    def forward(self, x):
        return self.function.module.elu(x, self.alpha)
