// Functions that are called repeatedly, whose adjoints are functions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/visit.hpp"

namespace assay::transforms::testing {
namespace {

constexpr std::string_view kUsual =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)";

constexpr std::string_view kBlend = R"(
@wp.func
def blend(a: float, b: float):
    c = a * b + wp.sin(a) * 0.5
    if c > 0.3:
        return c * a - b * b * 0.25
    a = a * 2.0 + wp.cos(b)
    for j in range(3):
        c += a * float(j) - c * c * 0.1
    return c * b + a

# domain: 0 <= n <= 12
)";

const Example kKernels[] = {
    {"two_calls", kUsual, R"(
    i = wp.tid()
    out[i] = blend(x[i], y[i]) * blend(y[i], 0.5)
)",
     kBlend},
    {"call_of_a_call", kUsual, R"(
    i = wp.tid()
    a = blend(x[i], y[i])
    out[i] = blend(a, blend(a, x[i])) + a * a
)",
     kBlend},
    {"calls_in_branches", kUsual, R"(
    i = wp.tid()
    s = x[i]
    if s > 0.0:
        s = blend(s, y[i]) * s
    else:
        s = blend(y[i], s) + blend(s, s)
    out[i] = s * s
)",
     kBlend},
    {"calls_in_loop", kUsual, R"(
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        s = blend(s, x[j]) * 0.25 + blend(y[j], s) * 0.1
    out[i] = s * s
)",
     kBlend},
    {"sum_of_calls", kUsual, R"(
    i = wp.tid()
    s = float(0.0)
    for j in range(n):
        s += blend(x[j], y[i]) * y[j] + blend(x[i], x[j])
    out[i] = s
)",
     kBlend},
    {"call_whose_result_is_not_used", kUsual, R"(
    i = wp.tid()
    unused = blend(x[i], y[i])
    out[i] = blend(x[i], 0.25)
)",
     kBlend},
    {"call_whose_result_is_not_selected", kUsual, R"(
    i = wp.tid()
    r = wp.abs(x[i]) * float(i)
    a = inverse(r)
    b = inverse(y[i] * y[i] + 0.5)
    out[i] = wp.where(r > 0.0, a, b) + b
)",
     R"(
@wp.func
def inverse(a: float):
    b = 0.75 / (a * a) + a * 0.5
    c = b * b + a * 0.25 - b * 0.125
    return c * b + 0.5 / a

)"},
    {"several_results", kUsual, R"(
    i = wp.tid()
    a, k, v = parts(x[i], y[i], i)
    b, l, w = parts(a, v[0], k)
    out[i] = a * b + wp.dot(v, w) + float(l)
)",
     R"(
@wp.func
def parts(a: float, b: float, k: int):
    v = wp.vec2(a * b, wp.sin(b) - a * float(k))
    c = wp.length(v) + a * b * 0.5
    return c * 0.5, (k * 2 + 1) % 4, v * c

)"},
    {"functions_that_call_functions", kUsual, R"(
    i = wp.tid()
    out[i] = outer(x[i], y[i]) + outer(y[i], 0.5) * inner(x[i])
)",
     R"(
@wp.func
def inner(a: float):
    b = a * a * 0.5 + wp.sin(a) - a * 0.25
    return b * a + wp.cos(b) * 0.5 + b * b * 0.125


@wp.func
def outer(a: float, b: float):
    c = inner(a * b) + inner(b) * a
    return c * b - inner(c) * 0.5

)"},
    {"function_that_reads_arrays", kUsual, R"(
    i = wp.tid()
    out[i] = mean(x, y, i) * mean(y, y, 2) + mean(x, x, i)
)",
     R"(
@wp.func
def mean(a: wp.array(dtype=float), b: wp.array(dtype=float), k: int):
    s = a[k] * b[k + 1] * 0.5
    for j in range(3):
        s += a[k + j] * 0.25 + b[j] * b[j] * 0.125
    return s + a[0] * 0.5

)"},
    {"function_without_parameters_of_floats", kUsual, R"(
    i = wp.tid()
    out[i] = x[step(i, 3)] * y[step(i, 5)] + weight(i) * x[i] + weight(2)
)",
     R"(
@wp.func
def step(a: int, b: int):
    c = (a * 7 + b * 3) % 11
    d = (c * c + a * b + 1) % 13
    e = (d * 5 + c * 2 + b) % 12
    return (c + d + e) % 17


@wp.func
def weight(a: int):
    c = float(a) * 0.5 + float(a % 3) * 0.25
    d = c * c + float(a + 1) * 0.125 - c * 0.5
    return c * d + d * 0.5

)"},
    {"structs", kUsual, R"(
    i = wp.tid()
    p = Pair()
    p.v = wp.vec2(x[i], y[i])
    p.s = y[i] * 0.5
    p.k = i
    q = advance(p, x[i + 1])
    r = advance(q, p.s)
    out[i] = wp.dot(r.v, q.v) + r.s * float(r.k)
)",
     R"(
@wp.struct
class Pair:
    v: wp.vec2
    s: float
    k: int


@wp.func
def advance(p: Pair, t: float):
    q = Pair()
    q.v = p.v * t + wp.vec2(p.s * 0.5, wp.sin(p.s))
    q.s = wp.length(p.v) * p.s + t * t * 0.25
    q.k = p.k + 1
    return q

)"},
    {"local_array_in_function", kUsual, R"(
    i = wp.tid()
    out[i] = smooth(x[i], y[i]) * smooth(y[i], 0.5)
)",
     R"(
@wp.func
def smooth(s: float, t: float):
    a = wp.zeros(shape=3, dtype=float)
    for j in range(3):
        a[j] = s * float(j) + t * t
    return a[0] * 0.25 + a[1] * s * 0.5 + a[2] * a[0]

)"},
};

/// A function with a parameter and fields of its result that have no derivative.
const Example kNearest{"parts_with_derivatives", kUsual, R"(
    i = wp.tid()
    p = nearest(x[i], y[i], 0.75)
    q = nearest(y[i] * x[i], p.distance, y[i] * 0.5)
    out[i] = p.distance * p.side + q.distance * q.side * 0.5 + float(p.steps)
)",
                       R"(
@wp.struct
class Nearest:
    distance: float
    side: float
    steps: int


@wp.func
def nearest(a: float, b: float, limit: float):
    found = Nearest()
    found.side = 1.0
    found.distance = wp.sqrt(a * a + 0.5) * b + 0.25 * a
    if a * b - 0.5 > limit:
        found.side = -1.0
        found.distance = found.distance * 0.5 - b * b
        found.steps = 1
    return found

)"};

/// A function with two results. Only the first has derivatives.
const Example kDistanceAndSide{"results_with_derivatives", kUsual, R"(
    i = wp.tid()
    distance, side = nearest(x[i], y[i])
    other, other_side = nearest(y[i] * distance, 0.75)
    out[i] = distance * side + other * other_side * 0.5
)",
                               R"(
@wp.func
def nearest(a: float, b: float):
    d = wp.sqrt(a * a + 0.5) * b + 0.25 * a
    if a * b > 0.5:
        return d * 0.5 - b * b, -1.0
    return d, 1.0

)"};

/// A function that has derivatives only by the elements of an array.
const Example kElement{"array_element", kUsual, R"(
    i = wp.tid()
    out[i] = element(x, i, y[i]) * element(x, i + 1, 0.5)
)",
                       R"(
@wp.func
def element(a: wp.array(dtype=float), k: int, limit: float):
    s = a[k] * a[k] * 0.5 + wp.sin(a[k]) * 0.25
    if s < limit:
        s = s * a[k] - 0.125 * a[k] + s * s
    return s * 0.5

)"};

/// A function without derivatives, whose floats only select its results.
const Example kSide{"side", kUsual, R"(
    i = wp.tid()
    out[i] = side(x[i], y[i]) * x[i] + side(y[i], 0.5) * y[i]
)",
                    R"(
@wp.func
def side(a: float, b: float):
    c = a * b + wp.sin(a) * 0.5 - b * b * 0.25
    d = c * c + a * 0.125 - b * 0.5
    if c * d > 0.25:
        return -1.0
    if c + d > 0.5:
        return 0.5
    return 1.0

)"};

/// Whether the backward kernel calls functions of the kernel or their adjoints.
bool calls_functions(const Example& example) {
  const ir::Module module = read(example.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  EXPECT_TRUE(adjoint.ok()) << adjoint.error().text();
  std::set<std::size_t> called;
  const auto collect = [&](const ir::Function& function) {
    ir::for_each_call(function, [&](std::int32_t index) { called.insert(static_cast<std::size_t>(index)); });
  };
  collect(adjoint->module.kernels[0]);
  const bool calls = std::ranges::any_of(
      called, [&](std::size_t index) { return adjoint->module.functions[index].name != "checkpoint_stride"; });
  std::ranges::for_each(adjoint->module.functions, collect);
  for (std::size_t added = module.functions.size(); added < adjoint->module.functions.size(); ++added)
    EXPECT_TRUE(called.contains(added)) << adjoint->module.functions[added].name;
  return calls;
}

void expect_agreement(const Example& example) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const OracleComparison result = compare(example, seed);
    ASSERT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message << "\n" << example.source();
    EXPECT_GT(result.changed, 0);
  }
}

class AdjointOfRepeatedCalls : public ::testing::TestWithParam<Example> {};

TEST_P(AdjointOfRepeatedCalls, MatchesOracle) {
  EXPECT_TRUE(calls_functions(GetParam()));
  expect_agreement(GetParam());
}

std::string name_of(const ::testing::TestParamInfo<Example>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfRepeatedCalls, ::testing::ValuesIn(kKernels), name_of);

/// Kernels whose calls are inlined.
const Example kInlined[] = {
    {"one_call", kUsual, R"(
    i = wp.tid()
    out[i] = blend(x[i], y[i])
)",
     kBlend},
    {"short_function", kUsual, R"(
    i = wp.tid()
    out[i] = scaled(x[i]) * scaled(y[i])
)",
     R"(
@wp.func
def scaled(a: float):
    return a * 0.5

)"},
    {"array_that_the_kernel_changes", kUsual, R"(
    i = wp.tid()
    y[i] = x[i] * x[i]
    a = mean(y, i)
    y[i] = a * x[i]
    out[i] = mean(y, i) * a
)",
     R"(
@wp.func
def mean(a: wp.array(dtype=float), k: int):
    s = a[k] * a[k] * 0.5 + wp.sin(a[k]) * 0.25
    t = s * s + a[k] * 0.125 - s * 0.5
    return s * t + a[k] * 0.5

)"},
};

class AdjointOfInlinedCalls : public ::testing::TestWithParam<Example> {};

TEST_P(AdjointOfInlinedCalls, MatchesOracle) {
  EXPECT_FALSE(calls_functions(GetParam()));
  expect_agreement(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfInlinedCalls, ::testing::ValuesIn(kInlined), name_of);

/// The function with this name in the module of the backward kernel; null if there is none.
const ir::Function* function_named(const AdjointModule& adjoint, std::string_view name) {
  const auto found = std::ranges::find(adjoint.module.functions, name, &ir::Function::name);
  return found == adjoint.module.functions.end() ? nullptr : &*found;
}

/// The names of a function's variables; several may have the same name.
std::multiset<std::string> variables_of(const ir::Function& function) {
  std::multiset<std::string> names;
  for (const ir::Variable& variable : function.variables)
    names.insert(variable.name);
  return names;
}

TEST(AdjointOfFunction, ReturnsAdjointsOfParametersWithDerivatives) {
  const ir::Module module = read(kNearest.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  const ir::Function* const nearest = function_named(*adjoint, "adj_nearest");
  ASSERT_NE(nearest, nullptr);
  // Only comparisons depend on `limit`.
  EXPECT_EQ(nearest->results.size(), 2U);
  expect_agreement(kNearest);
}

TEST(AdjointOfFunction, OmitsFieldsWithoutDerivatives) {
  const ir::Module module = read(kNearest.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  const std::multiset<std::string> variables = variables_of(adjoint->module.kernels[0]);
  EXPECT_TRUE(variables.contains("adj_p_distance") || variables.contains("adj_distance"));
  EXPECT_FALSE(variables.contains("adj_p_side") || variables.contains("adj_side"));
}

TEST(AdjointOfFunction, OmitsResultsWithoutDerivatives) {
  const ir::Module module = read(kDistanceAndSide.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  // One for each call: both results of a call have the name of the function.
  EXPECT_EQ(variables_of(adjoint->module.kernels[0]).count("adj_nearest"), 2U);
  expect_agreement(kDistanceAndSide);
}

TEST(AdjointOfFunction, MayReturnNothing) {
  const ir::Module module = read(kElement.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  const ir::Function* const element = function_named(*adjoint, "adj_element");
  ASSERT_NE(element, nullptr);
  EXPECT_TRUE(element->results.empty());
  expect_agreement(kElement);
}

TEST(AdjointOfFunction, IsOmittedIfNoResultHasADerivative) {
  const ir::Module module = read(kSide.source());
  const Result<AdjointModule> adjoint = make_adjoint(module, module.kernels[0]);
  ASSERT_TRUE(adjoint.ok()) << adjoint.error().text();
  EXPECT_EQ(function_named(*adjoint, "adj_side"), nullptr);
  expect_agreement(kSide);
}

}  // namespace
}  // namespace assay::transforms::testing
