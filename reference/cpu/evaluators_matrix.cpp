// The evaluator of the matrix inverse, by cofactors.
//
// Implementations group the products of a determinant differently. The bound holds for all groupings: every product of
// n entries is rounded at most a known number of times, so the error is at most that many units of the sum of the
// magnitudes of the products, which is the permanent of the magnitudes.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference {
namespace {

constexpr int kMostRows = 4;

/// Number of roundings of one product in the determinant of n rows: roundings of products, and of sums in Laplace's
/// expansion by one row, or by two for n = 4.
constexpr std::array<int, kMostRows + 1> kRoundings = {0, 0, 2, 5, 10};

/// A square submatrix.
struct Minor {
  int n = 0;
  std::array<int, kMostRows> rows{};
  std::array<int, kMostRows> columns{};

  Minor without(int row, int column) const {
    Minor rest{.n = n - 1};
    for (int i = 0; i < rest.n; ++i) {
      rest.rows[static_cast<std::size_t>(i)] = rows[static_cast<std::size_t>(i < row ? i : i + 1)];
      rest.columns[static_cast<std::size_t>(i)] = columns[static_cast<std::size_t>(i < column ? i : i + 1)];
    }
    return rest;
  }
};

class Square {
 public:
  Square(const BoundedArithmetic& arithmetic, Operands entries) : a_(arithmetic), entries_(entries) {
    while (whole_.n * whole_.n < static_cast<int>(entries.size())) {
      whole_.rows[static_cast<std::size_t>(whole_.n)] = whole_.columns[static_cast<std::size_t>(whole_.n)] = whole_.n;
      ++whole_.n;
    }
    determinant_ = determinant(whole_);
    is_finite_ = std::ranges::all_of(entries, [](const BoundedValue* entry) { return std::isfinite(entry->v); });
  }

  int rows() const { return whole_.n; }

  /// Component (i, j) of the inverse; 0 for a matrix that is certainly singular, as in Warp. If an entry is not finite,
  /// the result depends on how an implementation groups its products, so the bound is infinite.
  BoundedValue inverse(int i, int j) const {
    if (!is_finite_) return {0, {kUnbounded, kUnbounded}};
    if (determinant_.v == 0 && both_zero(determinant_.e)) return kBoundedZero;
    BoundedValue cofactor = determinant(whole_.without(j, i));
    if ((i + j) % 2 != 0) cofactor = BoundedArithmetic::neg(cofactor);
    const BoundedValue reciprocal = a_.div(kBoundedOne, determinant_);
    BoundedValue result =
        BoundedArithmetic::with_widest_bound(a_.div(cofactor, determinant_), a_.mul(cofactor, reciprocal));
    // If the reciprocal may overflow, implementations differ: its product with a zero cofactor is NaN.
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      if (reciprocal.e[precision] == kUnbounded) result.e[precision] = kUnbounded;
    return result;
  }

 private:
  const BoundedValue& entry(const Minor& minor, int row, int column) const {
    return *entries_[static_cast<std::size_t>(minor.rows[static_cast<std::size_t>(row)] * whole_.n +
                                              minor.columns[static_cast<std::size_t>(column)])];
  }

  /// Laplace's expansion by the first row: the determinant, or without alternating signs the permanent.
  template <class Number, class Entry>
  static Number expand(const Minor& minor, bool alternates, const Entry& entry) {
    if (minor.n == 0) return 1;
    Number sum = 0;
    for (int column = 0; column < minor.n; ++column) {
      const Number term = entry(minor, 0, column) * expand<Number>(minor.without(0, column), alternates, entry);
      sum += alternates && column % 2 != 0 ? -term : term;
    }
    return sum;
  }

  BoundedValue determinant(const Minor& minor) const {
    if (minor.n == 1) return entry(minor, 0, 0);
    const auto value = expand<long double>(minor, true, [&](const Minor& m, int r, int c) { return entry(m, r, c).v; });
    BoundedValue result{value, {}};
    if (!a_.has_bounds()) return result;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
      const double e = error(minor, precision);
      if (e > 0)
        result.e[precision] = std::isfinite(value)
                                  ? bound_with_oracle_error(a_.format(static_cast<int>(precision)), magnitude(value), e)
                                  : kUnbounded;
    }
    return result;
  }

  /// Error of a determinant of at least two rows.
  double error(const Minor& minor, std::size_t precision) const {
    const auto greatest = [&](const Minor& m, int r, int c) {
      return magnitude(entry(m, r, c).v) + entry(m, r, c).e[precision];
    };
    const auto magnitude_sum = expand<double>(minor, false, greatest);
    if (magnitude_sum == 0) return 0;
    // A product of some of the entries, or a partial sum, may overflow even if the determinant does not.
    const auto largest_mass =
        expand<double>(minor, false, [&](const Minor& m, int r, int c) { return std::max(1.0, greatest(m, r, c)); });
    if (!(largest_mass <= a_.format(static_cast<int>(precision)).largest_finite)) return kUnbounded;
    // The permanent is linear in each entry, so its derivative is the permanent of the remaining entries.
    double propagated = 0;
    double largest = 1;
    for (int row = 0; row < minor.n; ++row) {
      for (int column = 0; column < minor.n; ++column) {
        largest = std::max(largest, greatest(minor, row, column));
        const double e = entry(minor, row, column).e[precision];
        if (e > 0) propagated += e * expand<double>(minor.without(row, column), false, greatest);
      }
    }
    const FloatFormat& format = a_.format(static_cast<int>(precision));
    const auto steps = static_cast<double>(kRoundings[static_cast<std::size_t>(minor.n)]);
    // Each of at most 24 products may lose half the smallest spacing at each step, and is then multiplied by two
    // entries.
    const double underflow =
        24 * steps * (error_from_rounded_result(format, 0, 0) + format.flush_error) * largest * largest;
    return propagated + steps * format.unit_roundoff * (1 + 2 * steps * format.unit_roundoff) * magnitude_sum +
           underflow + 64 * kOracleUnitRoundoff * magnitude_sum;
  }

  const BoundedArithmetic& a_;
  Operands entries_;
  Minor whole_;
  BoundedValue determinant_;
  bool is_finite_ = true;
};

}  // namespace

namespace evaluators {
namespace {

using ir::Op;

BoundedValue inverse(const BoundedArithmetic& a, Operands x) { return Square(a, x).inverse(0, 0); }

// dY = -Y dA Y
void d_inverse(const BoundedArithmetic& a, Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) {
  const Square matrix(a, x);
  const int n = matrix.rows();
  std::array<BoundedValue, kMostRows> first_row, first_column;
  for (int k = 0; k < n; ++k) {
    first_row[static_cast<std::size_t>(k)] = matrix.inverse(0, k);
    first_column[static_cast<std::size_t>(k)] = matrix.inverse(k, 0);
  }
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) {
      p[k * n + l] = BoundedArithmetic::neg(
          a.mul(first_row[static_cast<std::size_t>(k)], first_column[static_cast<std::size_t>(l)]));
    }
  }
}

constexpr std::array kRows{
    reduction_evaluator(Op::kInverse, inverse, d_inverse),
};

}  // namespace

std::span<const Evaluator> matrix() { return kRows; }

}  // namespace evaluators
}  // namespace assay::reference
