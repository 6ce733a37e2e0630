// The error bound of the inverse holds in float and double, for two groupings of the products of a determinant and two
// ways of dividing by it, also on entries with an error.
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/testing/workbench.hpp"
#include "support/rng.hpp"

namespace assay::reference {
namespace {

using ir::Op;

constexpr int kMatrices = 400;
constexpr double kInexactFactor = 0.9990234375;  // 1 - 2^-10

template <class T>
using Entry = std::function<T(int, int)>;

/// Expansion by the first or by the last row.
template <class T>
T determinant(int n, const Entry<T>& at, bool by_last) {
  if (n == 1) return at(0, 0);
  const int row = by_last ? n - 1 : 0;
  T sum = 0;
  for (int column = 0; column < n; ++column) {
    const Entry<T> minor = [&](int i, int j) { return at(i < row ? i : i + 1, j < column ? j : j + 1); };
    const T term = at(row, column) * determinant<T>(n - 1, minor, by_last);
    sum = (row + column) % 2 == 0 ? sum + term : sum - term;
  }
  return sum;
}

template <class T>
T inverse_component(int n, const Entry<T>& at, int i, int j, bool by_last, bool multiplies) {
  const Entry<T> minor = [&](int r, int c) { return at(r < j ? r : r + 1, c < i ? c : c + 1); };
  const T cofactor = (i + j) % 2 == 0 ? determinant<T>(n - 1, minor, by_last) : -determinant<T>(n - 1, minor, by_last);
  const T whole = determinant<T>(n, at, by_last);
  return multiplies ? cofactor * (1 / whole) : cofactor / whole;
}

template <class T>
void expect_within(const std::vector<OutputElement>& elements, const std::vector<double>& entries, int n, bool scaled,
                   Precision precision) {
  const Entry<T> at = [&](int i, int j) {
    const T entry = static_cast<T>(entries[static_cast<std::size_t>(i * n + j)]);
    return scaled ? entry * static_cast<T>(kInexactFactor) : entry;
  };
  for (int k = 0; k < n * n; ++k) {
    const OutputElement& element = elements[static_cast<std::size_t>(k)];
    if (!std::isfinite(element.bound[precision])) continue;
    for (const bool by_last : {false, true}) {
      for (const bool multiplies : {false, true}) {
        const T got = inverse_component<T>(n, at, k / n, k % n, by_last, multiplies);
        ASSERT_LE(std::abs(static_cast<long double>(got) - element.value),
                  static_cast<long double>(element.bound[precision]))
            << "component " << k << " of " << n << " rows: got " << got << ", oracle " << element.value;
      }
    }
  }
}

class MatrixInverseBound : public ::testing::TestWithParam<int> {};

TEST_P(MatrixInverseBound, HoldsForEveryEvaluationOrder) {
  const int n = GetParam();
  const ir::Type type = ir::matrix_type(ir::Scalar::kF32, n, n);
  Rng rng(31);
  int finite = 0;
  for (int trial = 0; trial < kMatrices; ++trial) {
    std::vector<double> entries;
    for (int k = 0; k < n * n; ++k)
      entries.push_back(static_cast<double>(static_cast<float>(rng.uniform_real(-2, 2))));
    const bool scaled = trial % 2 == 1;
    testing::OracleFixture w;
    const ir::VarId x = w.array("x", type, {1}, entries);
    const ir::VarId out = w.zeros("out", type, {1});
    const ir::VarId i = w.thread_index(1);
    const ir::ExprId m = scaled ? w.op(Op::kMul, {w.at(x, i), w.b().f32(kInexactFactor)}) : w.at(x, i);
    w.b().store(out, {w.var(i)}, w.op(Op::kInverse, {m}));
    const ReferenceResult r = w.evaluate();
    const auto& elements = r.outputs.back()->elements;
    finite += std::isfinite(elements[0].bound[kNative]) ? 1 : 0;
    expect_within<float>(elements, entries, n, scaled, kNative);
    expect_within<double>(elements, entries, n, scaled, kPromoted);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(finite, kMatrices * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Rows, MatrixInverseBound, ::testing::Values(2, 3, 4));

}  // namespace
}  // namespace assay::reference
