#include "frontend/text/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/interface/frontend.hpp"

namespace assay::frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Frontends, AreSelectedByFileSuffix) {
  ASSERT_NE(frontend_of("a/b.ir"), nullptr);
  EXPECT_EQ(frontend_of("a/b.ir")->name, "text");
  ASSERT_NE(frontend_of("b.py"), nullptr);
  EXPECT_EQ(frontend_of("b.py")->name, "warp");
  EXPECT_EQ(frontend_of("b.cu"), nullptr);
}

TEST(TextFrontend, ParsedFileListsEachKernelWithItsParameters) {
  const auto parsed = parse_ir_text(R"(
# domain: 0 <= a
kernel scale(x: array<f32,1>, a: f32, out: array<f32,1>; i) {
  out[i] = mul(x[i], a)
}
)",
                                    "scale.ir");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  ASSERT_EQ(parsed->declarations.size(), 1U);
  EXPECT_EQ(parsed->declarations[0].name, "scale");
  EXPECT_EQ(parsed->declarations[0].loc.line, 3);
  EXPECT_THAT(parsed->declarations[0].parameter_names, ElementsAre("x", "a", "out"));
  EXPECT_THAT(parsed->module.kernels[0].annotations, ElementsAre("domain: 0 <= a"));
}

TEST(TextFrontend, ReportsLocationOfSyntaxError) {
  const auto parsed = parse_ir_text("kernel k(x: array<f32,1>; i) {\n  x[i] = mul(x[i]\n}\n", "k.ir");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().text(), HasSubstr("k.ir:2:"));
}

TEST(TextFrontend, ReportsLocationOfInvalidStatement) {
  const auto parsed = parse_ir_text("kernel k(x: array<f32,1>; i) {\n  x[i] = 1\n}\n", "k.ir");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().text(), HasSubstr("k.ir:"));
}

}  // namespace
}  // namespace assay::frontend
