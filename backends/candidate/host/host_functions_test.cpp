#include "backends/candidate/host/host_functions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HostFunctionsTest, FindsMain) {
  EXPECT_TRUE(defines_main("int main() { return 0; }"));
  EXPECT_TRUE(defines_main("int\nmain(int argc, char* argv[])\n{\n}"));
  EXPECT_TRUE(defines_main("const char* text = \"//\"; int main(void) {}"));
}

TEST(HostFunctionsTest, IgnoresMainInCommentsTextsAndOtherNames) {
  EXPECT_FALSE(defines_main("// int main() {}\n"));
  EXPECT_FALSE(defines_main("/* int main() {} */"));
  EXPECT_FALSE(defines_main("const char* text = \"int main() {}\";"));
  EXPECT_FALSE(defines_main("int main();"));
  EXPECT_FALSE(defines_main("int domain() {} int main_loop() {}"));
  EXPECT_FALSE(defines_main("void f() { main(); }"));
}

TEST(HostFunctionsTest, FindsExternCFunctions) {
  EXPECT_THAT(extern_c_functions("extern \"C\" void solve(const float* x, float* y, int n) {\n}\n"
                                 "extern  \"C\"\nint second() { return 1; }"),
              ElementsAre("solve", "second"));
}

TEST(HostFunctionsTest, FindsFunctionsThatReturnTensors) {
  EXPECT_THAT(tensor_functions("#include <torch/extension.h>\n#define TILE 16\n"
                               "__global__ void scale(float* x) { if (x) { x[0] = 1; } }\n"
                               "torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); return y; }\n"
                               "std::vector<at::Tensor>\nboth (const at::Tensor& x) { for (at::Tensor t : {x}) { } }"),
              ElementsAre("forward", "both"));
}

TEST(HostFunctionsTest, FindsNoOtherFunctionsAsThoseThatReturnTensors) {
  EXPECT_THAT(tensor_functions("torch::Tensor declared(torch::Tensor x);\n"
                               "void changes(torch::Tensor x) {}\n"
                               "TensorList other() {}\n"
                               "// torch::Tensor comment() {}\n"
                               "static torch::Tensor value = made([] {});\n"),
              IsEmpty());
}

TEST(HostFunctionsTest, IgnoresKernelsAndDeclarations) {
  EXPECT_THAT(extern_c_functions("extern \"C\" __global__ void scale(float* x) {}\n"
                                 "extern \"C\" __launch_bounds__(256) __global__ void sum(float* x) {}\n"
                                 "extern \"C\" void solve(float* x);\n"
                                 "// extern \"C\" void other() {}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace assay::candidate
