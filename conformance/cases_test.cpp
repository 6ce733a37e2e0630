#include "conformance/cases.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "generators/generator.hpp"
#include "ir/text.hpp"

namespace assay::conformance {
namespace {

TEST(CuratedCases, AreSortedAndUnique) {
  const auto key = [](const CaseFile& file) { return std::tuple(file.family, file.name); };
  EXPECT_TRUE(std::ranges::is_sorted(cases(), {}, key));
  EXPECT_EQ(std::ranges::adjacent_find(cases(), {}, key), cases().end());
}

TEST(CuratedCases, CoverEachFamilyWithAtLeastTwelveKernels) {
  for (const generators::KernelFamilyDefinition& family : generators::families())
    EXPECT_GE(cases_of(family.name).size(), 12U) << family.name;
  for (const CaseFile& file : cases())
    EXPECT_TRUE(generators::find_family(file.family).has_value()) << file.path;
}

TEST(CuratedCases, BeginWithDescriptiveComment) {
  for (const CaseFile& file : cases()) {
    EXPECT_TRUE(file.text.starts_with("# ")) << file.path;
    EXPECT_GE(file.text.find('\n'), 40U) << file.path << ": a sentence, not a word";
  }
}

/// Whether it is the note on kernels whose threads have different values, the only one for a curated case.
bool is_about_blocks(const frontend::Diagnostic& diagnostic) {
  return diagnostic.severity == frontend::Severity::kNote &&
         diagnostic.reason.find("with one thread per block") != std::string::npos;
}

TEST(CuratedCases, DefineExactlyOneKernelNamedAfterTheFile) {
  for (const CaseFile& file : cases()) {
    const auto read = frontend::parse_python(file.text, std::string(file.path));
    ASSERT_TRUE(read.ok()) << read.error().text();
    for (const frontend::Diagnostic& diagnostic : read->diagnostics)
      EXPECT_TRUE(is_about_blocks(diagnostic)) << diagnostic.text();
    ASSERT_EQ(read->module.kernels.size(), 1U) << file.path;
    EXPECT_EQ(read->module.kernels[0].name, file.name) << file.path;
  }
}

TEST(CuratedCases, RoundTripThroughPythonWriter) {
  for (const CaseFile& file : cases()) {
    const auto read = frontend::parse_python(file.text, std::string(file.path));
    ASSERT_TRUE(read.ok()) << read.error().text();
    const auto written = source::warp::write_python(read->module);
    ASSERT_TRUE(written.ok()) << written.error().text();
    const auto again = frontend::parse_python(written.value(), std::string(file.path));
    ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << written.value();
    for (const frontend::Diagnostic& diagnostic : again->diagnostics)
      EXPECT_TRUE(is_about_blocks(diagnostic)) << diagnostic.text() << "\n" << written.value();
    EXPECT_EQ(ir::hash(again->module), ir::hash(read->module)) << written.value();
  }
}

TEST(CuratedCases, DomainAndLaunchCommentsBecomeKernelAnnotations) {
  const auto annotations = [](std::string_view family, std::string_view name) {
    const CaseFile* file = find_case(family, name);
    return frontend::parse_python(file->text, std::string(file->path)).value().module.kernels[0].annotations;
  };
  EXPECT_THAT(annotations("control_flow", "threads_beyond_n"),
              ::testing::ElementsAre("launch: (70)", "domain: 1 <= n <= 61"));
}

TEST(CuratedCases, AreFoundOnlyByTheirFamilyAndName) {
  ASSERT_NE(find_case("loop", "dynamic_product"), nullptr);
  EXPECT_EQ(find_case("loop", "dynamic_product")->path, "conformance/cases/loop/dynamic_product.py");
  EXPECT_EQ(find_case("loop", "quotient_huge_divisor"), nullptr);
  EXPECT_EQ(find_case("loops", "dynamic_product"), nullptr);
}

}  // namespace
}  // namespace assay::conformance
