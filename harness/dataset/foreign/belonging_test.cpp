// Comparison of generated code: what is ignored, and which damage is named for each change.
#include "harness/dataset/foreign/belonging.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::foreign {
namespace {

using ::testing::HasSubstr;

/// A text with the structure of a generated file: preamble, helper function with adjoint, kernel with adjoint,
/// wrappers.
constexpr std::string_view kFile = R"(#define WP_TILE_BLOCK_DIM 1
#include <builtin.h>
#define float(x) cast_float(x)

// /home/user/file.py:3
static wp::float32 square_0(wp::float32 var_x)
{
    // return x * x    <L 4>
    var_0 = wp::mul(var_x, var_x);
    return var_0;
}

static void adj_square_0(wp::float32 var_x, wp::float32 & adj_x)
{
    wp::adj_mul(var_x, var_x, adj_x, adj_x, adj_0);
    return;
}

struct wp_args_scale_0123abcd {
    wp::array_t<wp::float32> x;
};

template <bool linear>
static void scale_0123abcd_cpu_kernel_forward(
    wp::launch_bounds_t<1> dim,
    wp_args_scale_0123abcd *_wp_args)
{
    var_0 = builtin_tid1d();
    var_1 = wp::address(var_x, var_0);
    var_2 = square_0(var_1);
    var_3 = wp::mul(var_2, 2.0);
    wp::array_store(var_out, var_0, var_3);
}

template <bool linear>
static void scale_0123abcd_cpu_kernel_backward(
    wp::launch_bounds_t<1> dim,
    wp_args_scale_0123abcd *_wp_args)
{
    var_3 = wp::mul(var_2, 2.0);
    wp::adj_array_store(var_out, var_0, var_3, adj_out);
    wp::adj_mul(var_2, 2.0, adj_2, adj_3);
    adj_square_0(var_1, adj_1);
    return;
}

extern "C" {

WP_API void scale_0123abcd_cpu_forward(wp::launch_bounds_t<1> *dim)
{
    run<scale_0123abcd_cpu_kernel_forward>(dim);
}

} // extern C

extern "C" {

WP_API void scale_0123abcd_cpu_backward(wp::launch_bounds_t<1> *dim)
{
    run<scale_0123abcd_cpu_kernel_backward>(dim);
}

} // extern C
)";

std::string replaced(std::string text, std::string_view old, std::string_view with, bool all = true) {
  std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  while (at != std::string::npos) {
    text.replace(at, old.size(), with);
    at = all ? text.find(old, at + with.size()) : std::string::npos;
  }
  return text;
}

std::string between(std::string_view begin, std::string_view end) {
  const std::size_t from = kFile.find(begin);
  return std::string(kFile.substr(from, kFile.find(end, from) - from));
}

std::string without(std::string_view begin, std::string_view end) {
  return replaced(std::string(kFile), between(begin, end), "");
}

std::optional<RowDamageFinding> find_row_damage(const std::string& found, bool requires_backward = true) {
  return find_damage({.target = Target::kCpp,
                      .found_text = found,
                      .expected = kFile,
                      .kernel = "scale",
                      .version = "1.19.0",
                      .requires_backward = requires_backward});
}

void expect_damage(const std::string& found, RowDamage damage, std::string_view message) {
  const auto finding = find_row_damage(found);
  ASSERT_TRUE(finding.has_value()) << found;
  EXPECT_EQ(to_text(finding->damage), to_text(damage)) << finding->message;
  EXPECT_THAT(finding->message, HasSubstr(std::string(message)));
  EXPECT_EQ(finding->field, "cpp");
}

TEST(GeneratedCodeMatch, IgnoresHashesCommentsAndLayout) {
  std::string text = replaced(std::string(kFile), "_0123abcd", "_fedcba98");
  text = replaced(text, "// /home/user/file.py:3", "/* another\n comment */");
  text = replaced(text, "    // return x * x    <L 4>\n", "");
  text = replaced(text, "(\n    wp::launch", "( wp::launch");
  EXPECT_EQ(find_row_damage(text), std::nullopt);
  EXPECT_EQ(forward_key(Target::kCpp, text), forward_key(Target::kCpp, kFile));
}

TEST(GeneratedCodeMatch, IgnoresNumbersInFunctionNames) {
  const std::string text = replaced(std::string(kFile), "square_0", "square_17");
  EXPECT_EQ(find_row_damage(text), std::nullopt);
  EXPECT_EQ(forward_key(Target::kCpp, text), forward_key(Target::kCpp, kFile));
  EXPECT_EQ(find_row_damage(replaced(between("template <bool linear>", "extern \"C\" {"), "square_0", "square_3")),
            std::nullopt);
  expect_damage(replaced(text, "var_2 = square_17(var_1)", "var_2 = square_18(var_1)"), RowDamage::kForwardDiffers,
                "square_18");
}

TEST(GeneratedCodeMatch, AcceptsTextThatContainsOnlyTheFunctionsOfTheKernel) {
  EXPECT_EQ(find_row_damage(between("template <bool linear>", "extern \"C\" {")), std::nullopt);
  const std::string forward =
      between("template <bool linear>", "template <bool linear>\nstatic void scale_0123abcd_cpu_kernel_b");
  EXPECT_EQ(find_row_damage(forward, false), std::nullopt);
  expect_damage(forward, RowDamage::kMissingBackward, "'scale_cpu_kernel_backward' is missing");
}

TEST(GeneratedCodeMatch, ReportsFirstDifferentLineOfBothTexts) {
  const auto finding =
      find_row_damage(replaced(std::string(kFile), "var_3 = wp::mul(var_2, 2.0);", "var_3 = wp::add(var_2, 2.0);"));
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->damage, RowDamage::kCodeDiffers);
  EXPECT_EQ(finding->function, "scale_cpu_kernel_forward");
  EXPECT_EQ(finding->found_text, (CodeLine{31, "var_3 = wp::add(var_2, 2.0);"}));
  EXPECT_EQ(finding->expected, (CodeLine{31, "var_3 = wp::mul(var_2, 2.0);"}));
  EXPECT_EQ(finding->message,
            "cpp:31, scale_cpu_kernel_forward: found 'var_3 = wp::add(var_2, 2.0);', expected 'var_3 = wp::mul(var_2, "
            "2.0);' (line 31 of Warp's text)");
}

TEST(GeneratedCodeMatch, ReportsWhetherForwardOrBackwardCodeDiffers) {
  expect_damage(replaced(std::string(kFile), "var_3 = wp::mul(var_2, 2.0);", "var_3 = wp::mul(var_2, 3.0);", false),
                RowDamage::kForwardDiffers, "3.0");
  expect_damage(replaced(std::string(kFile), "    wp::adj_mul(var_2, 2.0, adj_2, adj_3);\n", ""),
                RowDamage::kBackwardDiffers,
                "found 'adj_square_0(var_1, adj_1);', expected 'wp::adj_mul(var_2, 2.0, adj_2, adj_3);'");
  expect_damage(replaced(std::string(kFile), "adj_x, adj_x, adj_0", "adj_x, adj_0, adj_x"), RowDamage::kBackwardDiffers,
                "adj_square_0");
  expect_damage(replaced(std::string(kFile), "var_0 = wp::mul(var_x, var_x);", "var_0 = wp::add(var_x, var_x);"),
                RowDamage::kForwardDiffers, "square_0");
}

TEST(GeneratedCodeMatch, ReportsMissingFunctions) {
  expect_damage(without("template <bool linear>\nstatic void scale_0123abcd_cpu_kernel_backward", "extern \"C\" {"),
                RowDamage::kMissingBackward, "'scale_cpu_kernel_backward' is missing");
  expect_damage(without("template <bool linear>\nstatic void scale_0123abcd_cpu_kernel_forward",
                        "template <bool linear>\nstatic void scale_0123abcd_cpu_kernel_backward"),
                RowDamage::kMissingForward, "'scale_cpu_kernel_forward' is missing");
  expect_damage(without("static wp::float32 square_0", "static void adj_square_0"), RowDamage::kMissingFunction,
                "'square_0' is missing");
  expect_damage(without("static void adj_square_0", "struct"), RowDamage::kMissingBackward,
                "'adj_square_0' is missing");
  expect_damage("int unrelated = 0;\n", RowDamage::kMissingForward, "'scale_cpu_kernel_forward' is missing");
}

TEST(GeneratedCodeMatch, DetectsTruncatedText) {
  for (const std::string_view end : {"var_2 = square_0", "_wp_args)\n{\n    var_0", "adj_square_0(var_1"}) {
    const std::string cut(kFile.substr(0, kFile.find(end)));
    expect_damage(cut, RowDamage::kTruncated, "the code ends in line");
  }
  expect_damage(std::string(kFile.substr(0, kFile.find("template <bool linear>"))), RowDamage::kTruncated,
                "the code ends before 'scale_cpu_kernel_forward'");
  expect_damage(std::string(kFile) + "/* open", RowDamage::kTruncated, "the code ends");
}

TEST(GeneratedCodeMatch, DetectsCodeOfAnotherKernel) {
  expect_damage(replaced(std::string(kFile), "scale_0123abcd", "shift_0123abcd"), RowDamage::kKernelMismatch,
                "the code is that of kernel 'shift', not 'scale'");
  expect_damage(replaced(std::string(kFile), "wp::array_t<wp::float32> x;", "wp::array_t<wp::float64> x;"),
                RowDamage::kKernelMismatch, "the kernel's parameters differ");
  std::string text = replaced(std::string(kFile), "var_1 = wp::address(var_x, var_0);", "a = wp::sin(b);");
  text = replaced(text, "var_2 = square_0(var_1);", "c = wp::cos(b);");
  text = replaced(text, "var_3 = wp::mul(var_2, 2.0);", "d = wp::tan(b);");
  text = replaced(text, "wp::array_store(var_out, var_0, var_3);", "e = wp::exp(b);");
  expect_damage(text, RowDamage::kKernelMismatch, "most statements differ");
}

TEST(GeneratedCodeMatch, DetectsCodeOfAnotherWarpVersion) {
  expect_damage(replaced(std::string(kFile), "#define float(x) cast_float(x)\n", ""), RowDamage::kWarpVersionMismatch,
                "'#define float(x) cast_float(x)', which Warp 1.19.0 generates, is missing");
  expect_damage(replaced(std::string(kFile), "#include <builtin.h>", "#include <builtin.h>\n#define OLD"),
                RowDamage::kWarpVersionMismatch, "Warp 1.19.0 does not generate '#define OLD' (line 3)");
  expect_damage(replaced(std::string(kFile), "template <bool linear>\nstatic ", ""), RowDamage::kWarpVersionMismatch,
                "Warp 1.19.0 declares kernels differently");
  expect_damage(std::string(kFile) + "void scale_0123abcd_cpu_thunk_forward() {}\n", RowDamage::kWarpVersionMismatch,
                "Warp 1.19.0 does not generate 'scale_cpu_thunk_forward'");
}

TEST(GeneratedCodeMatch, DetectsCodeGeneratedWithOtherOptions) {
  expect_damage(replaced(std::string(kFile), "BLOCK_DIM 1", "BLOCK_DIM 64"), RowDamage::kOptionMismatch,
                "the block size differs: found '#define WP_TILE_BLOCK_DIM 64'");
  expect_damage(replaced(std::string(kFile), "void scale_0123abcd_cpu_kernel",
                         "void __launch_bounds__(64) scale_0123abcd_cpu_kernel"),
                RowDamage::kOptionMismatch, "the launch attributes differ");
}

TEST(GeneratedCodeParser, ReadsBlockSizeFromMacroDefinition) {
  EXPECT_EQ(block_size_of(kFile), 1);
  EXPECT_EQ(block_size_of("#define WP_TILE_BLOCK_DIM 256\n"), 256);
  EXPECT_EQ(block_size_of("void f() {}\n"), std::nullopt);
}

TEST(GeneratedCodeParser, RemovesHashesFromNames) {
  EXPECT_EQ(without_hashes("scale_be719e56_cpu_kernel_forward"), "scale_cpu_kernel_forward");
  EXPECT_EQ(without_hashes("P_b01148f7"), "P");
  EXPECT_EQ(without_hashes("adj_P_b01148f7"), "adj_P");
  EXPECT_EQ(without_hashes("var_1234567"), "var_1234567");
  EXPECT_EQ(without_hashes("square_0"), "square_0");
}

TEST(GeneratedCodeParser, DoesNotCrashOnMalformedText) {
  for (const std::string_view text :
       {"", "}", "{", "\"", "'", "/*", "//", "#", "#define \\\n", "((((", "a_", "extern \"C\" {"}) {
    (void)split_code(text);
    (void)find_row_damage(std::string(text));
  }
  for (std::size_t end = 0; end < kFile.size(); ++end)
    (void)find_row_damage(std::string(kFile.substr(0, end)));
}

}  // namespace
}  // namespace assay::foreign
