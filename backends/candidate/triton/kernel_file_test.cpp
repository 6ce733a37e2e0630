#include "backends/candidate/triton/kernel_file.hpp"

#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

TEST(TritonKernelFile, RecognizesDecoratedFunction) {
  EXPECT_TRUE(defines_triton_kernel("import triton\n@triton.jit\ndef f(x):\n    pass\n"));
  EXPECT_TRUE(defines_triton_kernel("import triton.language as tl\nimport triton\n@triton.jit\ndef f(x):\n    pass\n"));
  EXPECT_TRUE(defines_triton_kernel("import triton as t\n@t.jit(debug=True)\ndef f(x):\n    pass\n"));
  EXPECT_TRUE(defines_triton_kernel("from triton import Config, jit as kernel\n@kernel\ndef f(x):\n    pass\n"));
  EXPECT_TRUE(
      defines_triton_kernel("import triton\n@triton.autotune(configs=[], key=[])\n@triton.jit\ndef f(x):\n    pass\n"));
}

TEST(TritonKernelFile, RequiresImportAndDecorator) {
  EXPECT_FALSE(defines_triton_kernel("@triton.jit\ndef f(x):\n    pass\n"));
  EXPECT_FALSE(defines_triton_kernel("import triton\n\n\ndef f(x):\n    return triton.jit(x)\n"));
  EXPECT_FALSE(defines_triton_kernel("import triton\nfrom numba import jit\n@jit\ndef f(x):\n    pass\n"));
  EXPECT_FALSE(defines_triton_kernel("import triton as t\nTEXT = '''\n@triton.jit\n'''\n"));
  EXPECT_FALSE(defines_triton_kernel("import tritonclient\n@tritonclient.jit\ndef f(x):\n    pass\n"));
}

}  // namespace
}  // namespace assay::candidate
