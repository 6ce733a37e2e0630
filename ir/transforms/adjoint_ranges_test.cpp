// Counted loops over every integer type, with bounds near the limits of the type, where distances overflow it.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/verifier.hpp"

namespace assay::transforms::testing {
namespace {

struct Range {
  std::string type;
  std::string start, stop, step;
  int trips;  ///< expected number of iterations
};
void PrintTo(const Range& range, std::ostream* out) {
  *out << fmt::format("{} {}:{}:{}", range.type, range.start, range.stop, range.step);
}

const Range kRanges[] = {
    {"i8", "-100", "100", "50", 4},
    {"i8", "100", "-101", "-67", 3},
    {"i8", "5", "-5", "1", 0},
    {"u8", "3", "250", "60", 5},
    {"u8", "250", "3", "60", 0},
    {"u8", "10", "5", "1", 0},
    {"i16", "-32768", "0", "10923", 3},
    {"i32", "-2000000000", "2000000000", "1000000000", 4},
    {"i32", "2000000000", "-2000000000", "-1500000000", 3},
    {"i32", "0", "2147483647", "1073741823", 3},
    {"i32", "7", "7", "3", 0},
    {"u32", "5", "4000000000", "1500000000", 3},
    {"u32", "4000000000", "5", "7", 0},
    {"i64", "-9000000000000000000", "8900000000000000000", "4500000000000000000", 4},
    {"i64", "9000000000", "-9000000000", "-4000000000", 5},
    {"u64", "10", "5", "1", 0},
    {"u64", "1", "7000000000000000000", "2500000000000000000", 3},
};

/// A loop whose derivative needs every state. `given`: the step is a parameter. `breaks`: the loop has a break, which
/// is never taken.
std::string text_of(const Range& range, bool given, bool breaks) {
  return fmt::format(R"(kernel ranges(x: array<f64,1>, out: array<f64,1>, by: {0}; i) {{
  let s: f64 = x[i]
  let count: i32 = 0
  for j: {0} in range({1}:{0}, {2}:{0}, {3}) {{
    s = add(mul(s, x[count]), mul(cast<f64>(j), 0.001:f64))
    count = add(count, 1)
{4}  }}
  out[i] = mul(s, cast<f64>(add(count, 1)))
}}
)",
                     range.type, range.start, range.stop, given ? "by" : range.step + ":" + range.type,
                     breaks ? "    if gt(s, 1e+300:f64) {\n      break\n    }\n" : "");
}

class AdjointOfCountedLoop : public ::testing::TestWithParam<Range> {};

TEST_P(AdjointOfCountedLoop, MatchesOracle) {
  for (int form = 0; form < 4; ++form) {
    const std::string text = text_of(GetParam(), form % 2 != 0, form / 2 != 0);
    auto module = ir::parse_text(text);
    ASSERT_TRUE(module.ok()) << module.error().text();
    for (const ir::VerifierError& diagnostic : ir::verify(*module))
      FAIL() << ir::to_text(*module, diagnostic);
    OracleInput input = draw(*module, module->kernels[0], 1, {.threads = 1});
    ir::Argument& by = input.launch.arguments[2];
    const bool is_unsigned = GetParam().type[0] == 'u';
    ir::write_integer(
        by.type.scalar, by.bytes.data(),
        is_unsigned ? static_cast<std::int64_t>(std::stoull(GetParam().step)) : std::stoll(GetParam().step));
    const OracleComparison result = compare(*module, module->kernels[0], input);
    EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message << "\n" << text;
    // One gradient for each factor, the first of which is the thread's input, and one for the overwritten output.
    EXPECT_EQ(result.changed, std::max(1, GetParam().trips) + 1) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfCountedLoop, ::testing::ValuesIn(kRanges));

}  // namespace
}  // namespace assay::transforms::testing
