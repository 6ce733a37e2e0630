// Files with syntax errors: what is rejected, and what is still parsed.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSimple = "@wp.kernel\ndef good(y: wp.array(dtype=float)):\n    y[wp.tid()] = 1.0\n";

std::string error_of(std::string_view source) {
  const auto result = parse_python(source, "test.py");
  return result.ok() ? "was accepted" : result.error().text();
}

TEST(SyntaxErrors, RejectsFileWithoutValidDefinition) {
  EXPECT_EQ(error_of("x = = 1\n"), "test.py:1:5: syntax error at =; no definition could be parsed");
}

TEST(SyntaxErrors, RejectsFileWithSyntaxErrorInKernelOrFunction) {
  for (const std::string decorator : {"@wp.kernel\n", "@wp.func\n"}) {
    const std::string broken = decorator + "def broken(y: wp.array(dtype=float)):\n    y[0] = = 1.0\n";
    EXPECT_EQ(error_of("import warp as wp\n" + broken + "M = 2\n" + std::string(kSimple)),
              "test.py:4:12: syntax error at = in broken");
  }
}

TEST(SyntaxErrors, ParsesKernelsBeforeAndAfterErrorAtTopLevel) {
  const std::string first = "@wp.kernel\ndef first(y: wp.array(dtype=float)):\n    y[0] = 1.0\n";
  const ParsedFile file = read("import warp as wp\n" + first + "N = 1\nL = = 2\nM = 2\n" + std::string(kSimple));
  ASSERT_EQ(file.module.kernels.size(), 2U) << messages(file);
  EXPECT_EQ(file.module.kernels[0].name, "first");
  EXPECT_EQ(file.module.kernels[1].name, "good");
  EXPECT_THAT(messages(file), HasSubstr("test.py:6:5: error: =: syntax error\n"));
}

TEST(SyntaxErrors, RejectsDefinitionDirectlyBeforeErrorAtTopLevel) {
  const ParsedFile file = read("import warp as wp\n" + std::string(kSimple) + "L = = 3\nN = 1\n" +
                               "@wp.kernel\ndef other(n: int):\n    pass\n");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_EQ(file.module.kernels[0].name, "other");
}

}  // namespace
}  // namespace assay::frontend::testing
