#include "ir/text.hpp"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/launch.hpp"
#include "ir/limits.hpp"
#include "ir/testing/parsed.hpp"
#include "ir/testing/programs.hpp"

namespace assay::ir {
namespace {

using testing::parsed;

std::string error_of(std::string_view text) {
  const Result<Module> module = parse_text(text, "a.ir");
  return module.ok() ? "" : module.error().text();
}

std::string in_kernel(std::string_view statement) {
  return "kernel k(x: array<f32,1>, n: i32; i) {\n" + std::string(statement) + "\n}\n";
}

/// The literal's bits after printing and parsing.
std::uint64_t round_trip(Type type, std::uint64_t bits) {
  Module module;
  module.kernels.push_back({.name = "k", .is_kernel = true, .launch_rank = 0});
  Function& kernel = module.kernels[0];
  kernel.expressions.push_back({.kind = ExprKind::kLiteral, .type = type, .bits = bits});
  kernel.variables.push_back({.name = "v", .type = type});
  kernel.body.statements.push_back({.node = Let{0, 0}});
  const std::string text = to_text(module);
  const Module again = parsed(text);
  EXPECT_EQ(again.kernels.at(0).expressions.at(0).type, type) << text;
  return again.kernels.at(0).expressions.at(0).bits;
}

TEST(TextForm, EveryConstructRoundTripsThroughText) {
  EXPECT_EQ(to_text(parsed(testing::kEverything)), testing::kEverything);
}

TEST(TextForm, CanonicalFormIsIdempotent) {
  const std::string canonical = to_text(parsed(testing::kEverything), NamingScheme::kCanonical);
  EXPECT_EQ(to_text(parsed(canonical), NamingScheme::kSource), canonical);
  EXPECT_EQ(to_text(parsed(canonical), NamingScheme::kCanonical), canonical);
  EXPECT_NE(canonical.find("kernel k0(v0: array<f32,2>, nullable v1: array<f32,1>, v2: s1"), std::string::npos);
}

TEST(TextForm, KeepsOnlyAnnotationsDirectlyAboveKernel) {
  const Module module =
      parsed("# about the file\n\n# launch: (n)\n#domain: n > 0\nkernel k(n: i32; i) {  # not this\n}\n");
  EXPECT_EQ(module.kernels[0].annotations, (std::vector<std::string>{"launch: (n)", "domain: n > 0"}));
}

TEST(TextForm, RenamesDuplicateAndInvalidNames) {
  Module module;
  Function kernel{.name = "kernel", .is_kernel = true};
  Builder b(module, kernel);
  b.parameter("let", kF32);
  b.parameter("x", kF32);
  b.parameter("x", kF32);
  b.parameter("x_1", kF32);
  b.parameter("2 b\xc3\xa9", kF32);
  b.thread_index("");
  module.kernels.push_back(kernel);
  const std::string text = to_text(module);
  EXPECT_EQ(text, "kernel kernel_1(let_1: f32, x: f32, x_1: f32, x_1_1: f32, _2_b__: f32; _) {\n}\n");
  EXPECT_EQ(to_text(parsed(text)), text);
}

TEST(TextForm, FloatLiteralsRoundTripThroughText) {
  for (const double value : {0.0, -0.0, 0.1, 1e300, 5e-324, -HUGE_VAL, HUGE_VAL, 1.0, 123456789.0, 1e16}) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    EXPECT_EQ(round_trip(kF64, bits), bits) << value;
    for (const Scalar scalar : {Scalar::kF32, Scalar::kF16, Scalar::kBF16}) {
      const auto rounded = std::bit_cast<std::uint64_t>(round_to(scalar, value));
      EXPECT_EQ(round_trip(scalar_type(scalar), rounded), rounded) << value;
    }
  }
  for (const std::uint64_t bits : {0x7ff8000000000000U, 0xfff8000000000000U, 0x7ff8000000000001U}) {
    EXPECT_EQ(round_trip(kF32, bits), bits);
  }
}

TEST(TextForm, SixteenBitFloatLiteralsRoundTripThroughText) {
  for (const Scalar scalar : {Scalar::kF16, Scalar::kBF16}) {
    for (std::uint32_t i = 0; i < 0x10000; i += 97) {
      const auto memory = static_cast<std::uint16_t>(i);
      const double value = read_float(scalar, std::as_bytes(std::span(&memory, 1)).data());
      const auto bits = std::bit_cast<std::uint64_t>(value);
      EXPECT_EQ(round_trip(scalar_type(scalar), bits), bits);
    }
  }
}

TEST(TextForm, F32LiteralsAreNotRoundedTwice) {
  // Above the midpoint of 1 and the next float by less than a double can represent.
  const Module module = parsed(in_kernel("let a: f32 = 1.000000059604644775390626"));
  EXPECT_EQ(std::bit_cast<double>(module.kernels[0].expressions[0].bits), static_cast<double>(0x1.000002p0F));
}

TEST(TextForm, SmallestAndLargestIntegersRoundTrip) {
  EXPECT_EQ(round_trip(scalar_type(Scalar::kI8), static_cast<std::uint64_t>(-128)), static_cast<std::uint64_t>(-128));
  EXPECT_EQ(round_trip(scalar_type(Scalar::kU8), 255), 255U);
  EXPECT_EQ(round_trip(kI64, std::uint64_t{1} << 63), std::uint64_t{1} << 63);
}

TEST(TextForm, RecordsSourceLocations) {
  const Module module = parsed("\nkernel k(x: array<f32,1>; i) {\n  x[i] = 1.0\n}\n");
  const Stmt& store = module.kernels[0].body.statements[0];
  EXPECT_EQ(store.loc.line, 3);
  EXPECT_EQ(store.loc.column, 3);
  EXPECT_EQ(module.source_lines[2], "  x[i] = 1.0");
}

struct Rejection {
  std::string text, error;
};

TEST(TextForm, ErrorsReportLocationAndExpectedText) {
  const Rejection kRejections[] = {
      {"kernel", "a.ir:1:7: found the end of the text, expected the name of a kernel"},
      {"x", "a.ir:1:1: found 'x', expected struct, func, kernel, gradient or replay"},
      {"struct f32 {\n}\n", "a.ir:1:8: f32 is a reserved word and cannot name a struct"},
      {"struct S {\n  a: S\n}\n", "a.ir:2:6: unknown type S"},
      {"struct S {\n  a: i32\n  a: i32\n}\n", "a.ir:3:3: field a is already declared"},
      {"func add() {\n}\n", "a.ir:1:6: add is a reserved word and cannot name a function"},
      {"func f() {\n}\nfunc f() {\n}\n", "a.ir:3:6: function f is already declared"},
      {"func f() -> f32 {\n  return f()\n}\n", "a.ir:2:10: unknown operation or function f"},
      {"kernel k(x: vec<f32,0>; i) {\n}\n", "a.ir:1:21: found 0, expected a number from 1 to 255"},
      {"kernel k(x: vec<f32,300>; i) {\n}\n", "a.ir:1:21: found 300, expected a number from 1 to 255"},
      {"kernel k(x: array<array<f32,1>,1>; i) {\n}\n", "a.ir:1:19: found array, expected a value type"},
      {"kernel k(x: f32, x: f32; i) {\n}\n", "a.ir:1:18: variable x is already declared"},
      {"kernel k(x: f32; i) {\n  $\n}\n", "a.ir:2:3: found byte 0x24, expected a statement"},
      {in_kernel("x[i] = 1.0 x[i] = 2.0"), "a.ir:2:12: found 'x', expected the end of the line"},
      {in_kernel("x[i] = y"), "a.ir:2:8: unknown variable y"},
      {in_kernel("y = 1"), "a.ir:2:1: unknown variable y"},
      {in_kernel("x[i] = add(1, 2.0)"), "a.ir:2:8: add takes two numeric values of the same type"},
      {in_kernel("x[i] = ad(1, 2.0)"), "a.ir:2:8: unknown operation or function ad"},
      {in_kernel("x[i] = n[i]"), "a.ir:2:9: only arrays can be indexed"},
      {in_kernel("x[i] = n.y"), "a.ir:2:10: cannot access field y: operand is not a struct"},
      {in_kernel("n.y = 3"), "a.ir:2:3: cannot access field y: operand is not a struct"},
      {in_kernel("x = 3 +"), "a.ir:2:7: found byte 0x2b, expected the end of the line"},
      {in_kernel("let a: i32 = shape(x, 1)"), "a.ir:2:23: an array of rank 1 has no dimension 1"},
      {in_kernel("let a: u8 = 256:u8"), "a.ir:2:13: 256 is not a valid u8 literal"},
      {in_kernel("let a: u8 = -1:u8"), "a.ir:2:14: -1 is not a valid u8 literal"},
      {in_kernel("let a: i32 = 1.5:i32"), "a.ir:2:14: 1.5 is not a valid i32 literal"},
      {in_kernel("let a: f32 = 1e99"), "a.ir:2:14: 1e99 is not a valid f32 literal"},
      {in_kernel("let a: f16 = 65520:f16"), "a.ir:2:14: 65520 is not a valid f16 literal"},
      {in_kernel("let a: f32 = 1.2.3"), "a.ir:2:14: 1.2.3 is not a valid f32 literal"},
      {in_kernel("let a: f32 = nan(0x12)"), "a.ir:2:18: expected the bits of a NaN, such as 0x7ff8000000000001"},
      {in_kernel("let a: i32, b: i32 = 3"), "a.ir:2:13: only a call can declare several variables"},
      {in_kernel("atomic_add(x, 1.0)"), "a.ir:2:12: expected an array element such as x[i]"},
      {in_kernel("while true {"), "a.ir:4:1: found the end of the text, expected a statement"},
      {in_kernel("let while: i32 = 3"), "a.ir:2:5: while is a reserved word and cannot name a variable"},
  };
  for (const Rejection& rejection : kRejections)
    EXPECT_EQ(error_of(rejection.text), rejection.error) << rejection.text;
}

TEST(TextForm, RejectsTooDeeplyNestedExpressionsAndBlocks) {
  const auto expression = [](int depth) {
    std::string text = "let a: i32 = ";
    for (int i = 1; i < depth; ++i)
      text += "neg(";
    return in_kernel(text + "1" + std::string(static_cast<std::size_t>(depth) - 1, ')'));
  };
  EXPECT_EQ(error_of(expression(kMaxExpressionDepth)), "");
  EXPECT_NE(error_of(expression(kMaxExpressionDepth + 1)).find("expression must not be nested deeper"),
            std::string::npos);

  const auto blocks = [](int depth) {
    std::string text;
    for (int i = 1; i < depth; ++i)
      text += "while true {\n";
    for (int i = 1; i < depth; ++i)
      text += "}\n";
    return in_kernel(text);
  };
  EXPECT_EQ(error_of(blocks(kMaxBlockDepth)), "");
  EXPECT_NE(error_of(blocks(kMaxBlockDepth + 1)).find("blocks must not be nested deeper"), std::string::npos);

  std::string chain = "if true {\n}";
  for (int i = 0; i < 100'000; ++i)
    chain += " else if true {\n}";
  EXPECT_NE(error_of(in_kernel(chain)).find("blocks must not be nested deeper"), std::string::npos);
}

TEST(TextForm, RejectsTextAboveSizeLimit) {
  const std::string text(kMaxIrTextBytes + 1, '\n');
  EXPECT_EQ(error_of(text), "a.ir: text is too long: 16777217 bytes, limit 16777216");
}

TEST(TextForm, PrintsQuestionMarksForInvalidReferences) {
  Module module;
  module.kernels.push_back({.name = "k", .is_kernel = true, .launch_rank = 1});
  Function& kernel = module.kernels[0];
  kernel.expressions.push_back({.kind = ExprKind::kOperation, .op = Op::kNeg, .type = kF32, .args = {0}});
  kernel.body.statements.push_back({.node = Assign{5, 0}});
  kernel.body.statements.push_back({.node = Call{.function = 3, .args = {9}, .results = {}}});
  EXPECT_EQ(to_text(module), "kernel k(; ?) {\n  ? = neg(?)\n  call ?(?)\n}\n");
}

}  // namespace
}  // namespace assay::ir
