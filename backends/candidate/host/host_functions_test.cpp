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

TEST(HostFunctionsTest, IgnoresKernelsAndDeclarations) {
  EXPECT_THAT(extern_c_functions("extern \"C\" __global__ void scale(float* x) {}\n"
                                 "extern \"C\" __launch_bounds__(256) __global__ void sum(float* x) {}\n"
                                 "extern \"C\" void solve(float* x);\n"
                                 "// extern \"C\" void other() {}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace assay::candidate
