// Tests that the adjoint rejects unsupported kernels with each label at the correct source location.
#include "ir/transforms/refusal.hpp"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/text.hpp"
#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/verifier.hpp"

namespace assay::transforms::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Rejected {
  AdjointRejection rejection;
  std::string_view name;
  std::string_view where;  ///< line:column in the text below
  std::string_view text;   ///< a module in the text form; its first kernel is rejected
};
void PrintTo(const Rejected& rejected, std::ostream* out) { *out << rejected.name; }

const Rejected kRejected[] = {
    {AdjointRejection::kUnsupportedLocalArray, "local_array", "2:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  let a: local<f32,400>
  a[0] = x[i]
  out[i] = a[0]
}
)"},
    {AdjointRejection::kUnorderedAtomic, "exchange", "2:3", R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  atomic_exchange(out[0], x[i])
}
)"},
    {AdjointRejection::kUnorderedAtomic, "exchange_of_a_constant", "3:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = x[i]
  atomic_exchange(out[i], 0.0)
}
)"},
    {AdjointRejection::kUnorderedAtomic, "compare_and_swap", "2:3", R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  atomic_cas(out[0], 0.0, x[i])
}
)"},
    {AdjointRejection::kOverwrittenAtomicExtremum, "minimum_and_sum", "3:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  atomic_add(out[1], x[i])
  atomic_min(out[0], x[i])
}
)"},
    {AdjointRejection::kOverwrittenAtomicExtremum, "maximum_with_a_constant", "3:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = x[i]
  atomic_max(out[i], 0.0)
}
)"},
    {AdjointRejection::kUseOfAtomicResult, "float_result", "2:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>, sum: array<f32,1>; i) {
  let old: f32 = atomic_add(sum[0], x[i])
  out[i] = mul(old, x[i])
}
)"},
    {AdjointRejection::kUseOfAtomicResult, "integer_result", "2:3",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>, count: array<i32,1>; i) {
  let slot: i32 = atomic_add(count[0], 1)
  out[slot] = x[i]
}
)"},
    {AdjointRejection::kUseOfAtomicResult, "integer_result_in_a_branch", "4:7",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>, n: array<i32,1>; i) {
  for j: i32 in range(0, 3, 1) {
    if gt(x[j], 0.0) {
      let slot: i32 = atomic_add(n[0], 1)
      out[slot] = x[j]
    }
  }
}
)"},
    {AdjointRejection::kReadOfAtomicallyUpdatedArray, "read_of_a_sum", "3:3",
     R"(kernel k(x: array<f32,1>, sum: array<f32,1>, out: array<f32,1>; i) {
  atomic_add(sum[0], x[i])
  out[i] = sum[0]
}
)"},
    {AdjointRejection::kReadOfAtomicallyUpdatedArray, "read_of_another_element", "3:3",
     R"(kernel k(x: array<f32,1>, sum: array<f32,1>, out: array<f32,1>; i) {
  atomic_add(sum[i], x[i])
  out[i] = sum[add(i, 1)]
}
)"},
    {AdjointRejection::kValueOverwrittenInLoop, "power_in_place", "3:5",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  for j: i32 in range(0, 3, 1) {
    out[add(i, 1)] = mul(out[add(i, 1)], x[j])
  }
}
)"},
    {AdjointRejection::kValueOverwrittenInLoop, "overwritten_after_the_loop", "4:5",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  let s: f32 = x[i]
  for j: i32 in range(0, 3, 1) {
    s = mul(s, out[add(i, 1)])
  }
  out[add(i, 1)] = s
}
)"},
    {AdjointRejection::kValueOverwrittenInLoop, "overwritten_index", "4:5",
     R"(kernel k(x: array<f32,1>, next: array<i32,1>, out: array<f32,1>; i) {
  let s: f32 = 1.0
  for j: i32 in range(0, 3, 1) {
    s = mul(s, x[next[add(i, 1)]])
    next[add(i, 1)] = add(next[add(i, 1)], 1)
  }
  out[add(i, 1)] = s
}
)"},
    {AdjointRejection::kValueOverwrittenInLoop, "branch_on_overwritten_value", "4:5",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  let s: f32 = 1.0
  for j: i32 in range(0, 3, 1) {
    if gt(out[add(i, 1)], 0.0) {
      s = mul(s, x[j])
    }
    out[add(i, 1)] = s
  }
}
)"},
    {AdjointRejection::kElementDependentTripCount, "trip_count_depends_on_tile_element", "3:3",
     R"(func f(a: f32) -> f32 {
  let s: f32 = a
  while lt(s, 1.0) {
    s = add(s, 0.5)
  }
  return s
}
kernel k(x: array<f32,1>; i) {
  let t: tile<f32,4> = tile_load<tile<f32,4>>(x[i])
  x[i] = f(t)
}
)"},
    {AdjointRejection::kTileCustomDerivative, "tile_function_with_custom_gradient", "9:3", R"(func f(a: f32) -> f32 {
  return mul(a, 2.0)
}
func slope(a: f32, adj: f32) -> f32 {
  return mul(adj, 2.0)
}
gradient f = slope
kernel k(x: array<f32,1>; i) {
  x[i] = f(tile_load<tile<f32,4>>(x[i]))
}
)"},
    {AdjointRejection::kAggregateOfTileElement, "vector_of_tile_elements", "2:3", R"(func f(a: f32) -> f32 {
  let v: vec<f32,2> = make<vec<f32,2>>(a, 1.0)
  return dot(v, v)
}
kernel k(x: array<f32,1>; i) {
  let t: tile<f32,4> = tile_load<tile<f32,4>>(x[i])
  x[i] = f(t)
}
)"},
    {AdjointRejection::kValueOverwrittenInLoop, "inner_while_on_overwritten_value", "4:5",
     R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  for j: i32 in range(0, 3, 1) {
    let s: f32 = x[j]
    while lt(s, out[add(i, 1)]) {
      s = add(mul(s, s), 1.0)
    }
    out[add(i, 1)] = s
  }
}
)"},
    {AdjointRejection::kReplayWithoutGradient, "replay_only", "9:3", R"(func f(x: f32) -> f32 {
  return mul(x, x)
}
func r(x: f32) -> f32 {
  return mul(x, x)
}
replay f = r
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x[i])
}
)"},
    {AdjointRejection::kCustomFunctionReadsChangedArray, "gradient_reads_changed_array", "9:3",
     R"(func f(x: f32, a: array<f32,1>, k: i32) -> f32 {
  return x
}
func g(x: f32, a: array<f32,1>, k: i32, w: f32) -> f32 {
  return mul(w, a[k])
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x[i], out, i)
}
)"},
    {AdjointRejection::kReadOfAtomicallyUpdatedArray, "gradient_of_atomically_updated_array", "10:3",
     R"(func f(a: array<f32,1>, k: i32) -> f32 {
  return 1.0
}
func g(a: array<f32,1>, k: i32, w: f32, nullable adj_a: array<f32,1>) {
  atomic_add(adj_a[k], w)
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  atomic_add(x[i], out[i])
  out[i] = f(x, i)
}
)"},
    {AdjointRejection::kReadOfAtomicallyUpdatedArray, "gradient_of_array_with_thread_private_sums", "10:3",
     R"(func f(a: array<f32,1>, k: i32) -> f32 {
  return 1.0
}
func g(a: array<f32,1>, k: i32, w: f32, nullable adj_a: array<f32,1>) {
  atomic_add(adj_a[k], w)
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  atomic_add(x[i], out[i])
  out[i] = add(f(x, add(i, 1)), x[i])
}
)"},
    {AdjointRejection::kNonlinearCustomGradient, "gradient_of_array_without_its_adjoint", "9:3",
     R"(func f(a: array<f32,1>, k: i32) -> f32 {
  return a[k]
}
func g(a: array<f32,1>, k: i32, w: f32, nullable adj_a: array<f32,1>) {
  atomic_add(adj_a[k], mul(a[k], 2.0))
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x, i)
}
)"},
    {AdjointRejection::kNonlinearCustomGradient, "squared_gradient_of_array", "9:3",
     R"(func f(a: array<f32,1>, k: i32) -> f32 {
  return a[k]
}
func g(a: array<f32,1>, k: i32, w: f32, nullable adj_a: array<f32,1>) {
  atomic_add(adj_a[k], mul(w, w))
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x, i)
}
)"},
    {AdjointRejection::kNonlinearCustomGradient, "clipped_gradient", "9:3", R"(func f(x: f32) -> f32 {
  return mul(x, x)
}
func g(x: f32, w: f32) -> f32 {
  return clamp(mul(w, x), -1.0, 1.0)
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x[i])
}
)"},
    {AdjointRejection::kNonlinearCustomGradient, "gradient_that_branches_on_the_adjoint", "12:3",
     R"(func f(x: f32) -> f32 {
  return mul(x, x)
}
func g(x: f32, w: f32) -> f32 {
  if gt(w, 0.0) {
    return w
  }
  return x
}
gradient f = g
kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  out[i] = f(x[i])
}
)"},
};

class AdjointRejections : public ::testing::TestWithParam<Rejected> {};

TEST_P(AdjointRejections, ErrorContainsRejectionLabelAndSourceLocation) {
  auto module = ir::parse_text(GetParam().text, "user.py");
  ASSERT_TRUE(module.ok()) << module.error().text();
  module->source_name = "user.py";
  for (const ir::VerifierError& diagnostic : ir::verify(*module))
    FAIL() << ir::to_text(*module, diagnostic);
  const Result<AdjointModule> adjoint = make_adjoint(*module, module->kernels[0]);
  ASSERT_FALSE(adjoint.ok()) << ir::to_text(adjoint->module);
  EXPECT_THAT(adjoint.error().message, StartsWith(std::string(row(GetParam().rejection).label) + ": "));
  EXPECT_EQ(adjoint.error().where, fmt::format("user.py:{}", GetParam().where));
}

std::string name_of(const ::testing::TestParamInfo<Rejected>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointRejections, ::testing::ValuesIn(kRejected), name_of);

TEST(AdjointRejections, EveryLabelIsTestedAndUnique) {
  std::set<AdjointRejection> tested = {AdjointRejection::kKernelTooLarge};  // tested below
  for (const Rejected& rejected : kRejected)
    tested.insert(rejected.rejection);
  for (std::size_t k = 0; k < kRejections.size(); ++k) {
    EXPECT_EQ(static_cast<std::size_t>(kRejections[k].rejection), k);
    // Numbers of removed labels are not reused.
    EXPECT_THAT(std::string(kRejections[k].label), ::testing::MatchesRegex("A[0-9][0-9]-[-a-z]+"));
    if (k > 0) {
      EXPECT_LT(kRejections[k - 1].label.substr(0, 3), kRejections[k].label.substr(0, 3));
    }
    EXPECT_TRUE(tested.contains(kRejections[k].rejection)) << kRejections[k].label;
  }
}

/// Forty functions, each calling the previous one twice; `work` is the result of the first. Each function also has
/// `parameters` and passes `arguments` on.
ir::Module doubling(const std::string& parameters, const std::string& arguments, const std::string& work) {
  std::string text = fmt::format("func f0(a: f32{}) -> f32 {{\n  return {}\n}}\n", parameters, work);
  for (int k = 1; k < 40; ++k)
    text += fmt::format("\nfunc f{0}(a: f32{2}) -> f32 {{\n  return f{1}(f{1}(a{3}){3})\n}}\n", k, k - 1, parameters,
                        arguments);
  text += fmt::format("\nkernel k(x: array<f32,1>; i) {{\n  x[i] = f39(x[i]{})\n}}\n", arguments);
  auto module = ir::parse_text(text, "user.py");
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.take();
}

TEST(AdjointRejections, RejectKernelWhoseInliningWouldGrowExponentially) {
  // The functions read an array that the kernel changes.
  for (const std::string work : {"mul(a, a)", "mul(a, x[0])"}) {
    const ir::Module module = doubling(", x: array<f32,1>", ", x", work);
    const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
    ASSERT_FALSE(adjoint.ok()) << work;
    EXPECT_THAT(adjoint.error().message, StartsWith("A09-too-large: 'k'"));
  }
}

TEST(AdjointRejections, AdjointOfRepeatedCallsDoesNotGrowExponentially) {
  const ir::Module module = doubling("", "", "mul(a, a)");
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  EXPECT_LE(adjoint->module.functions.size(), 2 * module.functions.size());
  EXPECT_LE(ir::to_text(adjoint->module).size(), 20 * ir::to_text(module).size());
}

/// Kernels that resemble rejected kernels but are supported.
const Example kAccepted[] = {
    {"linear_update_in_loop", "x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    for j in range(n):
        out[i] = out[i] * 0.5 + x[j]
)",
     "# domain: 0 <= n <= 9\n"},
    {"thread_private_element_added_to_and_read", "x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    for j in range(n):
        out[i] += x[j]
    out[i] = out[i] * out[i]
)",
     "# domain: 0 <= n <= 9\n"},
    {"thread_private_element_of_2d_array", "x: wp.array(dtype=float), c: wp.array2d(dtype=float)", R"(
    i, j = wp.tid()
    c[i, j] += x[i] * x[j]
    c[i, j] = c[i, j] * x[i]
)"},
    {"result_of_atomic_unused", "x: wp.array(dtype=float), out: wp.array(dtype=float)", R"(
    i = wp.tid()
    old = wp.atomic_add(out, 0, x[i] * x[i])
)"},
    {"integer_counter_in_same_kernel",
     "x: wp.array(dtype=float), count: wp.array(dtype=int), out: wp.array(dtype=float)", R"(
    i = wp.tid()
    wp.atomic_max(count, 0, i)
    wp.atomic_add(count, 1, 2)
    out[i] = x[i] * x[i]
)"},
    {"unused_matrix", "x: wp.array(dtype=float), m: wp.mat22, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    out[i] = x[i] * x[i]
)"},
};

class AcceptedKernels : public ::testing::TestWithParam<Example> {};

TEST_P(AcceptedKernels, GradientMatchesOracle) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const OracleComparison result = compare(GetParam(), seed);
    EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
    EXPECT_GE(result.changed, 1);
  }
}

std::string name_of_accepted(const ::testing::TestParamInfo<Example>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AcceptedKernels, ::testing::ValuesIn(kAccepted), name_of_accepted);

}  // namespace
}  // namespace assay::transforms::testing
