import torch
import torch.utils.cpp_extension

cuda_sources = [
    """
#include <torch/extension.h>
#include <cuda_runtime.h>

__constant__ float coefficients[3];

__global__ void gelu_kernel(const float* input, float* output, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        int index = row * columns + column;
        float v = input[index];
        float inner = coefficients[0] * (v + coefficients[1] * v * v * v);
        output[index] = coefficients[2] * v * (1.0f + tanhf(inner));
    }
}

torch::Tensor gelu(torch::Tensor input) {
    const float host[3] = {0.7978845608028654f, 0.044715f, 0.5f};
    cudaMemcpyToSymbol(coefficients, host, sizeof(host));
    auto output = torch::empty_like(input);
    int rows = input.size(0);
    int columns = input.size(1);
    if (input.numel() == 0) return output;
    dim3 block(32, 8);
    dim3 grid((columns + block.x - 1) / block.x, 1);
    gelu_kernel<<<grid, block>>>(input.data_ptr<float>(), output.data_ptr<float>(), rows, columns);
    cudaDeviceSynchronize();
    return output;
}
""",
]

module = torch.utils.cpp_extension.load_inline(
    name="gelu_constant_memory",
    cpp_sources=["torch::Tensor gelu(torch::Tensor input);"],
    cuda_sources=cuda_sources,
    functions=["gelu"],
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O2", "-lineinfo"],
)


class ModelNew(torch.nn.Module):
    def forward(self, *tensors):
        return module.gelu(*tensors)
