// The code that Warp generates. Skipped without Warp.
#include "backends/warp/generated_text.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::warp {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

GeneratedCodeRequest request_of(const std::string& kernel, const std::string& expression) {
  return {.python_source =
              "import warp as wp\n\n\n@wp.func\ndef twice(a: float):\n    return a + a\n\n\n@wp.kernel\ndef " + kernel +
              "(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = " + expression +
              "\n",
          .kernel_name = kernel};
}

class GeneratedTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!known_interpreter().ok()) GTEST_SKIP() << known_interpreter().error().text();
  }

  static std::vector<Result<GeneratedSources>> texts_of(const std::vector<GeneratedCodeRequest>& requests) {
    Result<std::vector<Result<GeneratedSources>>> texts = generate_sources(*known_interpreter(), requests);
    EXPECT_TRUE(texts.ok()) << texts.error().text();
    return texts.ok() ? texts.take() : std::vector<Result<GeneratedSources>>(requests.size(), texts.error());
  }
};

TEST_F(GeneratedTextTest, ReturnsFilesAndFunctionsForBothTargets) {
  const auto texts = texts_of({request_of("f", "twice(x[i])")});
  ASSERT_TRUE(texts[0].ok()) << texts[0].error().text();
  const GeneratedSources& text = *texts[0];
  EXPECT_THAT(text.cpu_forward, AllOf(StartsWith("template"), HasSubstr("_cpu_kernel_forward("), EndsWith("\n}\n"),
                                      HasSubstr("wp::array_store("), Not(HasSubstr("adj_array_store("))));
  EXPECT_THAT(text.cpu_backward, AllOf(HasSubstr("_cpu_kernel_backward("), HasSubstr("wp::adj_array_store(")));
  EXPECT_THAT(text.cuda_forward, AllOf(StartsWith("extern \"C\" __global__ void f_"), EndsWith("\n}\n"),
                                       HasSubstr("_cuda_kernel_forward("), Not(HasSubstr("adj_array_store("))));
  EXPECT_THAT(text.cuda_backward, AllOf(StartsWith("extern \"C\" __global__"), HasSubstr("wp::adj_array_store(")));
  for (const std::string* part : {&text.cpu_forward, &text.cpu_backward})
    EXPECT_THAT(text.cpu_source, HasSubstr(*part));
  for (const std::string* part : {&text.cuda_forward, &text.cuda_backward})
    EXPECT_THAT(text.cuda_source, HasSubstr(*part));
  EXPECT_THAT(text.cpu_source, HasSubstr("#define WP_TILE_BLOCK_DIM 1\n"));
  EXPECT_THAT(text.cuda_source, HasSubstr("#define WP_TILE_BLOCK_DIM 256\n"));
}

TEST_F(GeneratedTextTest, TextDoesNotDependOnOtherRequestedKernels) {
  const GeneratedCodeRequest f = request_of("f", "twice(x[i])");
  const auto alone = texts_of({f});
  const auto among = texts_of({request_of("g", "twice(twice(x[i]))"), request_of("f", "x[i]"), f, f});
  ASSERT_TRUE(alone[0].ok() && among[2].ok());
  EXPECT_EQ(among[2]->cpu_source, alone[0]->cpu_source);
  EXPECT_EQ(among[2]->cuda_source, alone[0]->cuda_source);
  EXPECT_EQ(among[3]->cpu_source, alone[0]->cpu_source);
  EXPECT_NE(among[1]->cpu_source, alone[0]->cpu_source);
  EXPECT_THAT(alone[0]->cpu_source, AllOf(HasSubstr("// f.py:"), Not(HasSubstr("/assay_"))));
}

TEST_F(GeneratedTextTest, ReportsKernelThatWarpRejects) {
  const auto texts = texts_of({request_of("f", "wp.no_such_function(x[i])"), request_of("g", "x[i]")});
  ASSERT_FALSE(texts[0].ok());
  EXPECT_THAT(texts[0].error().text(), HasSubstr("no_such_function"));
  EXPECT_TRUE(texts[1].ok()) << texts[1].error().text();
}

TEST_F(GeneratedTextTest, ReportsKernelWhosePythonCodeExitsTheProcess) {
  GeneratedCodeRequest ends = request_of("f", "x[i]");
  ends.python_source += "import os\nos._exit(3)\n";
  const auto texts = texts_of({ends, request_of("g", "x[i]")});
  ASSERT_FALSE(texts[0].ok());
  EXPECT_THAT(texts[0].error().text(), HasSubstr("exited with status 3"));
  EXPECT_TRUE(texts[1].ok()) << texts[1].error().text();
}

}  // namespace
}  // namespace assay::warp
