#include "backends/device/batch_source.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::backends {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EmittedKernel scale_kernel(const std::string& name) {
  return {.name = name,
          .helpers = {{"array", "template <typename T, int N>\nstruct Array {\n  T* data;\n};\n"}},
          .body = "using real = ASSAY_REAL;\nextern \"C\" void " + name + "_forward(long long, long long, real) {}\n",
          .entry_points = {{.pass = Pass::kForward, .symbol = name + "_forward", .parameter_types = {"real"}},
                           {.pass = Pass::kBackward, .symbol = name + "_backward", .parameter_types = {"real"}}}};
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(BatchSource, EmitsEachHelperOnceAndEachKernelInBothPrecisions) {
  const EmittedKernel a = scale_kernel("a");
  const EmittedKernel b = scale_kernel("b");
  const BatchSource batch = compose_batch_with_wrappers(std::array{&a, &b});
  EXPECT_EQ(occurrences(batch.text, "struct Array"), 1U);
  EXPECT_EQ(occurrences(batch.text, a.body), 2U);
  EXPECT_EQ(occurrences(batch.text, "#define ASSAY_REAL double"), 2U);
  ASSERT_EQ(batch.entry_points_by_kernel.size(), 2U);
  EXPECT_EQ(batch.entry_points_by_kernel[0].size(), 4U);
  EXPECT_EQ(batch.entry_points_by_kernel[1][0].symbol, "assay_1_native_forward");
}

TEST(BatchSource, EmitsKernelOnceIfNothingIsPromoted) {
  EmittedKernel a = scale_kernel("a");
  a.body.replace(a.body.find("ASSAY_REAL"), 10, "double");
  const EmittedKernel b = scale_kernel("b");
  const BatchSource batch = compose_batch_with_wrappers(std::array<const EmittedKernel*, 2>{&a, &b});
  EXPECT_EQ(occurrences(batch.text, a.body), 1U);
  EXPECT_EQ(occurrences(batch.text, b.body), 2U);
  EXPECT_EQ(batch.entry_points_by_kernel[0].size(), 2U);
}

TEST(BatchSource, MakesEntryPointNamesUniqueByKernelNumberAndPrecision) {
  const EmittedKernel a = scale_kernel("a");
  const BatchSource batch = compose_batch(std::array{&a});
  EXPECT_THAT(batch.text, HasSubstr("#define a_forward assay_0_native_a_forward\n"));
  EXPECT_EQ(occurrences(batch.text, "arguments"), 0U);
  EXPECT_EQ(batch.entry_points_by_kernel[0][0].symbol, "assay_0_native_a_forward");
}

TEST(BatchSource, UsesCheckedTextOfHelpersWithoutOptimization) {
  EmittedKernel a = scale_kernel("a");
  a.helpers[0].checked_text = "struct Checked;\n";
  const std::array kernels{static_cast<const EmittedKernel*>(&a)};
  const std::string unoptimized = compose_batch_with_wrappers(kernels, {.optimization_level = 0}).text;
  EXPECT_EQ(occurrences(unoptimized, "struct Checked"), 1U);
  EXPECT_EQ(occurrences(unoptimized, "struct Array"), 0U);
  const std::string optimized = compose_batch_with_wrappers(kernels, {.optimization_level = 2}).text;
  EXPECT_EQ(occurrences(optimized, "struct Checked"), 0U);
  EXPECT_EQ(occurrences(optimized, "struct Array"), 1U);
}

TEST(BatchSource, ChecksIndicesOfArraysOfStructsWithoutOptimization) {
  EmittedKernel a = scale_kernel("a");
  a.has_arrays_of_structs = true;
  const std::string declared = "  Vec<real, 3> kept[4] = {};\n";
  const std::string other = "  kept[3] = x.at(i);\n  return kept[3];\n  f(kept)[1];\n";
  a.body += declared + "    Pair open[2];\n" + other;
  const EmittedKernel* const kernels[] = {&a};
  BuildFlags flags = BuildFlags::strict();
  const std::string checked = compose_batch_with_wrappers(kernels, flags).text;
  EXPECT_THAT(checked, HasSubstr("  CheckedLocalArray<Vec<real, 3>, 4> kept = {};\n"
                                 "    CheckedLocalArray<Pair, 2> open;\n" +
                                 other));
  EXPECT_THAT(checked, HasSubstr("struct CheckedLocalArray"));
  flags.optimization_level = 2;
  EXPECT_THAT(compose_batch_with_wrappers(kernels, flags).text, HasSubstr(declared));
  a.has_arrays_of_structs = false;
  EXPECT_THAT(compose_batch_with_wrappers(kernels, BuildFlags::strict()).text, HasSubstr(declared));
}

TEST(BatchFile, ParsesKernelNumberOrHelperNameFromFileName) {
  EXPECT_EQ(batch_file("/folder/kernel:12:scale")->kernel_position, 12U);
  EXPECT_EQ(batch_file("helper:floor_div")->helper_name, "floor_div");
  EXPECT_FALSE(batch_file("scale.cu"));
}

TEST(BatchSource, LineDirectivesGiveLineNumbersOfStandaloneSource) {
  const EmittedKernel a = scale_kernel("a");
  const std::string source = a.source();
  std::size_t at = 0;
  for (int line = 1; line < a.first_body_line(); ++line)
    at = source.find('\n', at) + 1;
  EXPECT_EQ(source.substr(at), a.body);
  EXPECT_THAT(compose_batch(std::array{&a}).text,
              HasSubstr("#line " + std::to_string(a.first_body_line()) + " \"kernel:0:a\"\n" + a.body));
}

TEST(BlamedKernels, ReturnsKernelsWithErrorsInCompilerLog) {
  EXPECT_THAT(blamed_kernels("kernel:3:a: In function 'f':\n"
                             "kernel:12:b:7:9: error: 'y' was not declared\n"
                             "kernel:4:c:1:1: note: here\n"),
              ElementsAre(12U));
  EXPECT_THAT(blamed_kernels("/usr/bin/ld: /tmp/x.o: in function `f':\n"
                             "kernel:2:c:(.text+0x10): undefined reference to `nowhere'\n"),
              ElementsAre(2U));
}

TEST(BlamedKernels, ReturnsKernelsMentionedInLogIfErrorIsInHelper) {
  EXPECT_THAT(blamed_kernels("helper:array:7:9: error: no match for 'operator*'\n"
                             "kernel:5:b:7:9:   required from here\n"),
              ElementsAre(5U));
  EXPECT_THAT(blamed_kernels("collect2: error: ld returned 1 exit status"), IsEmpty());
}

TEST(ReadableLog, ReplacesBatchFileNameByKernelFileName) {
  EXPECT_EQ(readable_log("kernel:0:a:7:9: error: x\nkernel:0:a:8:1: note: y", "a"),
            "a.cpp:7:9: error: x\na.cpp:8:1: note: y");
}

}  // namespace
}  // namespace assay::backends
