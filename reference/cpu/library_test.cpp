// The functions of Warp's library against formulas of another kind, in long double.
#include "ir/library.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::reference {
namespace {

using testing::SampleKernel;
using testing::Usage;

using Values = std::vector<long double>;
using Formula = std::function<Values(const std::vector<Values>& x)>;

long double norm(const Values& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0L)); }
std::size_t rows_of(const Values& square) {
  return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(square.size()))));
}

Values by_components(const Values& a, const Values& b, long double (*f)(long double, long double)) {
  Values result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), f);
  return result;
}
Values scaled(Values x, long double factor) {
  for (long double& component : x)
    component *= factor;
  return x;
}

/// Leibniz's sum over all permutations.
long double determinant(const Values& m) {
  const std::size_t n = rows_of(m);
  std::vector<std::size_t> columns(n);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  long double sum = 0;
  do {
    long double term = 1;
    for (std::size_t row = 0; row < n; ++row) {
      term *= m[row * n + columns[row]];
      for (std::size_t other = 0; other < row; ++other)
        term *= columns[other] > columns[row] ? -1 : 1;
    }
    sum += term;
  } while (std::next_permutation(columns.begin(), columns.end()));
  return sum;
}

long double huber(const Values& x, long double delta) {
  const long double r = norm(x);
  return r * r <= delta * delta ? r * r / 2 : delta * (r - delta / 2);
}
long double pseudo_huber(const Values& x, long double delta) {
  return std::hypot(delta, norm(x)) * (delta < 0 ? -1 : 1);
}

Values lerp(const std::vector<Values>& x) {
  Values result(x[0].size());
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = x[0][k] + x[2][0] * (x[1][k] - x[0][k]);
  return result;
}

/// The leading three of a 4 x 4 matrix times (v, last).
Values moved(const Values& m, const Values& v, long double last) {
  Values result;
  for (std::size_t row = 0; row < 3; ++row)
    result.push_back(m[4 * row] * v[0] + m[4 * row + 1] * v[1] + m[4 * row + 2] * v[2] + m[4 * row + 3] * last);
  return result;
}

Values diagonal(const Values& m) {
  Values found;
  for (std::size_t k = 0; k < rows_of(m); ++k)
    found.push_back(m[k * (rows_of(m) + 1)]);
  return found;
}

std::map<std::string, Formula> formulas() {
  using X = const std::vector<Values>&;
  return {
      {"min v", [](X x) { return Values{*std::min_element(x[0].begin(), x[0].end())}; }},
      {"max v", [](X x) { return Values{*std::max_element(x[0].begin(), x[0].end())}; }},
      {"min vv", [](X x) { return by_components(x[0], x[1], [](auto a, auto b) { return std::min(a, b); }); }},
      {"max vv", [](X x) { return by_components(x[0], x[1], [](auto a, auto b) { return std::max(a, b); }); }},
      {"abs v", [](X x) { return by_components(x[0], x[0], [](auto a, auto) { return std::abs(a); }); }},
      {"sign v", [](X x) { return by_components(x[0], x[0], [](auto a, auto) { return a < 0 ? -1.0L : 1.0L; }); }},
      {"norm_l1 f",
       [](X x) {
         return Values{std::accumulate(x[0].begin(), x[0].end(), 0.0L, [](auto s, auto a) { return s + std::abs(a); })};
       }},
      {"norm_l2 f", [](X x) { return Values{norm(x[0])}; }},
      {"norm_huber f", [](X x) { return Values{huber(x[0], 1)}; }},
      {"norm_huber fs", [](X x) { return Values{huber(x[0], x[1][0])}; }},
      {"norm_pseudo_huber f", [](X x) { return Values{pseudo_huber(x[0], 1)}; }},
      {"norm_pseudo_huber fs", [](X x) { return Values{pseudo_huber(x[0], x[1][0])}; }},
      {"smooth_normalize f", [](X x) { return scaled(x[0], 1 / pseudo_huber(x[0], 1)); }},
      {"smooth_normalize fs", [](X x) { return scaled(x[0], 1 / pseudo_huber(x[0], x[1][0])); }},
      {"lerp ffs", lerp},
      {"lerp mms", lerp},
      {"skew 3",
       [](X x) {
         const Values& v = x[0];
         return Values{0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
       }},
      {"trace d",
       [](X x) {
         const Values d = diagonal(x[0]);
         return Values{std::accumulate(d.begin(), d.end(), 0.0L)};
       }},
      {"diag v",
       [](X x) {
         Values m(x[0].size() * x[0].size());
         for (std::size_t k = 0; k < x[0].size(); ++k)
           m[k * (x[0].size() + 1)] = x[0][k];
         return m;
       }},
      {"get_diag d", [](X x) { return diagonal(x[0]); }},
      {"determinant i", [](X x) { return Values{determinant(x[0])}; }},
      {"transform_point 43", [](X x) { return moved(x[0], x[1], 1); }},
      {"transform_vector 43", [](X x) { return moved(x[0], x[1], 0); }},
  };
}

std::string key_of(const ir::LibraryRow& row) { return std::string(row.name) + " " + std::string(row.operands); }

class LibraryFunction : public ::testing::TestWithParam<Usage> {};

TEST_P(LibraryFunction, ComputesItsFormula) {
  const Usage& usage = GetParam();
  const auto all = formulas();
  const auto formula = all.find(key_of(*usage.function));
  ASSERT_NE(formula, all.end()) << "no formula for " << key_of(*usage.function);
  Rng rng(23);
  for (int n = 0; n < 200; ++n) {
    const auto point = testing::sample(usage, rng);
    std::vector<Values> x;
    for (const auto& leaves : point)
      x.emplace_back(leaves.begin(), leaves.end());
    const Values expected = formula->second(x);
    const Reference got = testing::kernel_at(usage, point).bench.evaluate();
    const auto& elements = got.outputs.back()->elements;
    ASSERT_EQ(elements.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_LE(std::abs(elements[k].value - expected[k]), 1e-15L * std::max(1.0L, std::abs(expected[k])))
          << "component " << k << ": got " << elements[k].value << ", expected " << expected[k];
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Warp, LibraryFunction, ::testing::ValuesIn(testing::library_usages(ir::Scalar::kF64)),
                         [](const auto& usage) { return usage.param.name(); });

/// The index that the function finds in the vector.
std::int64_t index_in(std::string_view name, const std::vector<double>& components) {
  testing::Workbench w;
  const ir::Type vector = ir::vector_type(ir::Scalar::kF64, static_cast<int>(components.size()));
  const ir::VarId x = w.array("x", vector, {1}, components);
  const ir::VarId out = w.zeros("out", ir::scalar_type(ir::Scalar::kU32), {1});
  const ir::VarId i = w.thread_index(1);
  const int function = ir::library_function(w.module(), name, std::vector<ir::Type>{vector}).value();
  w.b().store(out, {w.var(i)}, w.b().call(function, {w.at(x, i)}));
  return w.evaluate().outputs[static_cast<std::size_t>(out)]->elements[0].integer;
}

TEST(Library, TheIndexIsThatOfTheFirstExtreme) {
  EXPECT_EQ(index_in("argmin", {2, -1, 3, -1}), 1);
  EXPECT_EQ(index_in("argmax", {2, -1, 3, 3}), 2);
  EXPECT_EQ(index_in("argmin", {0.5, 0.5}), 0);
}

TEST(Library, ANumberIsBeforeWhatIsNone) {
  const double none = std::nan("");
  EXPECT_EQ(index_in("argmin", {none, 3, none, 2}), 3);
  EXPECT_EQ(index_in("argmax", {none, none, 1}), 2);
  EXPECT_EQ(index_in("argmax", {none, none}), 0);
}

}  // namespace
}  // namespace assay::reference
