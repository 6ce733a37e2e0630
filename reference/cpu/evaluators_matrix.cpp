// The evaluator of the inverse of a matrix, by cofactors.
//
// Implementations differ in how they group the products of a determinant. Its bound holds for all of them: whatever the
// grouping, every product of n entries that the determinant sums is rounded a known number of times at most, so the
// error is that many units of the sum of their magnitudes, which is the permanent of the magnitudes.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/cpu/evaluator_tables.hpp"

namespace assay::reference {
namespace {

constexpr int kMostRows = 4;

/// Rounding errors on the way of one product into the determinant of n rows: those of the products, and of the sums in
/// Laplace's expansion by one row, or by two for n = 4.
constexpr std::array<int, kMostRows + 1> kRoundings = {0, 0, 2, 5, 10};

/// A square selection of the entries of a matrix.
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
  Square(const Arithmetic& arithmetic, Operands entries) : a_(arithmetic), entries_(entries) {
    while (whole_.n * whole_.n < static_cast<int>(entries.size())) {
      whole_.rows[static_cast<std::size_t>(whole_.n)] = whole_.columns[static_cast<std::size_t>(whole_.n)] = whole_.n;
      ++whole_.n;
    }
    determinant_ = determinant(whole_);
  }

  int rows() const { return whole_.n; }

  /// Component (i, j) of the inverse; of a matrix that is certainly singular 0, as in Warp.
  Bounded inverse(int i, int j) const {
    if (determinant_.v == 0 && both_zero(determinant_.e)) return kZeroBounded;
    Bounded cofactor = determinant(whole_.without(j, i));
    if ((i + j) % 2 != 0) cofactor = Arithmetic::neg(cofactor);
    return Arithmetic::widest(a_.div(cofactor, determinant_), a_.mul(cofactor, a_.div(kOneBounded, determinant_)));
  }

 private:
  const Bounded& entry(const Minor& minor, int row, int column) const {
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

  Bounded determinant(const Minor& minor) const {
    if (minor.n == 1) return entry(minor, 0, 0);
    const auto value = expand<long double>(minor, true, [&](const Minor& m, int r, int c) { return entry(m, r, c).v; });
    Bounded result{value, {}};
    if (!a_.has_bounds()) return result;
    for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
      const double e = error(minor, precision);
      if (e > 0)
        result.e[precision] =
            std::isfinite(value) ? settle(a_.format(static_cast<int>(precision)), magnitude(value), e) : kUnbounded;
    }
    return result;
  }

  /// Of the determinant of two rows or more.
  double error(const Minor& minor, std::size_t precision) const {
    const auto greatest = [&](const Minor& m, int r, int c) {
      return magnitude(entry(m, r, c).v) + entry(m, r, c).e[precision];
    };
    const auto mass = expand<double>(minor, false, greatest);
    if (mass == 0) return 0;
    // The permanent is linear in each entry, so that of the rest is its slope.
    double propagated = 0;
    double largest = 1;
    for (int row = 0; row < minor.n; ++row) {
      for (int column = 0; column < minor.n; ++column) {
        largest = std::max(largest, greatest(minor, row, column));
        const double e = entry(minor, row, column).e[precision];
        if (e > 0) propagated += e * expand<double>(minor.without(row, column), false, greatest);
      }
    }
    const Format& format = a_.format(static_cast<int>(precision));
    const auto steps = static_cast<double>(kRoundings[static_cast<std::size_t>(minor.n)]);
    // A product of at most 24 may lose half the least spacing at each step, and is multiplied by two entries after it.
    const double underflow = 24 * steps * (0.5 * ulp(format, 0) + format.flush) * largest * largest;
    return propagated + steps * format.unit * (1 + 2 * steps * format.unit) * mass + underflow +
           64 * kOracleUnit * mass;
  }

  const Arithmetic& a_;
  Operands entries_;
  Minor whole_;
  Bounded determinant_;
};

}  // namespace

namespace evaluators {
namespace {

using ir::Op;

Bounded inverse(const Arithmetic& a, Operands x) { return Square(a, x).inverse(0, 0); }

// dY = -Y dA Y
void d_inverse(const Arithmetic& a, Operands x, const Bounded&, std::uint32_t, Bounded* p) {
  const Square matrix(a, x);
  const int n = matrix.rows();
  std::array<Bounded, kMostRows> first_row, first_column;
  for (int k = 0; k < n; ++k) {
    first_row[static_cast<std::size_t>(k)] = matrix.inverse(0, k);
    first_column[static_cast<std::size_t>(k)] = matrix.inverse(k, 0);
  }
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) {
      p[k * n + l] =
          Arithmetic::neg(a.mul(first_row[static_cast<std::size_t>(k)], first_column[static_cast<std::size_t>(l)]));
    }
  }
}

constexpr std::array kRows{
    reduction(Op::kInverse, inverse, d_inverse),
};

}  // namespace

std::span<const Evaluator> matrix() { return kRows; }

}  // namespace evaluators
}  // namespace assay::reference
