#include "harness/warp_differences/sweep_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/launch.hpp"

namespace assay::warp {
namespace {

using ir::Scalar;
using ir::Type;

/// Number of tuples of a call, at most.
constexpr std::size_t kMaxTuples = 1600;
/// With one operand, all values are used.
constexpr std::size_t kAllValues = 400;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ScalarBytes float_bytes(Scalar scalar, double value) {
  ScalarBytes bytes(static_cast<std::size_t>(ir::row(scalar).bytes));
  ir::write_float(scalar, bytes.data(), value);
  return bytes;
}

ScalarBytes integer_bytes(Scalar scalar, std::int64_t value) {
  ScalarBytes bytes(static_cast<std::size_t>(ir::row(scalar).bytes));
  ir::write_integer(scalar, bytes.data(), value);
  return bytes;
}

/// Exponents of the smallest normal number and of the power of two above the greatest number.
struct Exponents {
  int smallest, above;
};
Exponents exponents_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::kF16: return {-14, 16};
    case Scalar::kF64: return {-1022, 1024};
    default: return {-126, 128};
  }
}

/// Without signs, the most extreme first.
std::vector<double> magnitudes(Scalar scalar) {
  const auto [smallest, above] = exponents_of(scalar);
  const int digits = ir::row(scalar).significant_bits;
  const double ulp = std::ldexp(1.0, 1 - digits);
  const double greatest = std::ldexp(2 - ulp, above - 1);
  const double subnormal = std::ldexp(1.0, smallest - digits + 1);
  return {0,
          kInfinity,
          1,
          0.5,
          greatest,
          subnormal,
          2.5,
          std::ldexp(1.0, smallest),
          2,
          1 + ulp,
          std::sqrt(greatest) * 1.5,
          1.5,
          std::ldexp(1.0, smallest / 2 - 1),
          3,
          1 - ulp / 2,
          std::ldexp(1.0, smallest) - subnormal,
          std::ldexp(1.0, digits - 1) - 0.5,
          0.5 - ulp / 4,
          std::numbers::pi,
          std::numbers::pi / 2,
          1.0 / 3,
          10,
          100,
          1e-3,
          std::ldexp(1.0, digits) + 2,
          0x1p31,
          0x1p32,
          0x1p63,
          127,
          128,
          255,
          256};
}

void add_distinct(std::vector<ScalarBytes>& values, ScalarBytes value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
}

std::vector<ScalarBytes> float_values(Scalar scalar) {
  std::vector<ScalarBytes> values{float_bytes(scalar, kNaN)};
  for (const double magnitude : magnitudes(scalar)) {
    add_distinct(values, float_bytes(scalar, magnitude));
    add_distinct(values, float_bytes(scalar, -magnitude));
  }
  return values;
}

std::vector<ScalarBytes> integer_values(Scalar scalar) {
  const ir::ScalarTypeProperties& row = ir::row(scalar);
  const std::int64_t width = 8 * row.bytes;
  // Wrapping gives the limits of each width: all bits, the top bit alone, and all bits but the top one.
  const auto top = static_cast<std::int64_t>(std::uint64_t{1} << (width - 1));
  std::vector<ScalarBytes> values;
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, top, ~top, std::int64_t{2},
                                   std::int64_t{3}, std::int64_t{-2}, top + 1, std::int64_t{7}, std::int64_t{-7},
                                   width - 1, width, (~top) / 2, top / 2, std::int64_t{5}, std::int64_t{100}}) {
    add_distinct(values, integer_bytes(scalar, value));
  }
  return values;
}

/// A well-conditioned value for a component: a diagonally dominant matrix, a quaternion away from the axes.
ScalarBytes ordinary(Type type, int component) {
  const bool diagonal = type.is_matrix() && component / type.cols == component % type.cols;
  const double value = diagonal ? 3 + 0.25 * component : 0.5 + 0.125 * component;
  return ir::is_float(type.scalar) ? float_bytes(type.scalar, value) : integer_bytes(type.scalar, component + 1);
}

/// The identity of matrices, quaternions and transforms; a unit vector.
ScalarBytes unit(Type type, int component) {
  const bool one = type.is_matrix()                              ? component / type.cols == component % type.cols
                   : type.is_quaternion() || type.is_transform() ? component + 1 == type.components()
                                                                 : component == 0;
  return float_bytes(type.scalar, one ? 1 : 0);
}

template <class F>
ValueBytes assembled(Type type, F component) {
  ValueBytes bytes;
  for (int k = 0; k < type.components(); ++k) {
    const ScalarBytes part = component(k);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

std::vector<ValueBytes> aggregate_values(Type type) {
  const std::vector<ScalarBytes> edges = edge_values(type.scalar);
  constexpr std::size_t kSingle = 16;  // edge values that are placed in single components
  std::vector<ValueBytes> values;
  values.push_back(assembled(type, [&](int k) { return ordinary(type, k); }));
  values.push_back(assembled(type, [&](int k) { return unit(type, k); }));
  for (const ScalarBytes& edge : edges)
    values.push_back(assembled(type, [&](int) { return edge; }));
  for (std::size_t e = 0; e < std::min(kSingle, edges.size()); ++e) {
    for (int at = 0; at < type.components(); ++at) {
      values.push_back(assembled(type, [&](int k) { return k == at ? edges[e] : ordinary(type, k); }));
      values.push_back(assembled(type, [&](int k) { return k == at ? edges[e] : unit(type, k); }));
      // Neighbors in the table have the same magnitude and opposite signs.
      values.push_back(assembled(type, [&](int k) {
        return k == at ? edges[e] : k == at + 1 ? edges[std::min(e + 1, edges.size() - 1)] : ordinary(type, k);
      }));
    }
  }
  return values;
}

/// `count` of the values, evenly spaced.
std::vector<ValueBytes> thinned(const std::vector<ValueBytes>& values, std::size_t count) {
  if (values.size() <= count) return values;
  std::vector<ValueBytes> kept;
  for (std::size_t k = 0; k < count; ++k)
    kept.push_back(values[k * values.size() / count]);
  return kept;
}

/// Number of values of each operand so that the product is at most kMaxTuples.
std::size_t values_per_operand(std::size_t operands) {
  if (operands == 1) return kAllValues;
  std::size_t count = 1;
  while (std::pow(static_cast<double>(count + 1), static_cast<double>(operands)) <= double{kMaxTuples})
    ++count;
  return count;
}

}  // namespace

std::vector<ScalarBytes> edge_values(Scalar scalar) {
  if (scalar == Scalar::kBool) return {integer_bytes(scalar, 0), integer_bytes(scalar, 1)};
  return ir::is_float(scalar) ? float_values(scalar) : integer_values(scalar);
}

std::vector<ValueBytes> edge_values(Type type, std::size_t count) {
  if (type.is_aggregate()) return thinned(aggregate_values(type), count);
  std::vector<ValueBytes> values = edge_values(type.scalar);
  if (values.size() > count) values.resize(count);
  return values;
}

EdgeValueTuples edge_tuples(const SweptCall& call) {
  const std::size_t each = values_per_operand(call.operand_types.size());
  std::vector<std::vector<ValueBytes>> values;
  EdgeValueTuples tuples{.tuple_count = 1, .operand_array_contents = {}};
  for (const Type operand : call.operand_types) {
    values.push_back(edge_values(operand, each));
    tuples.tuple_count *= values.back().size();
  }
  tuples.operand_array_contents.resize(values.size());
  for (std::size_t t = 0; t < tuples.tuple_count; ++t) {
    std::size_t rest = t;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const ValueBytes& value = values[k][rest % values[k].size()];
      tuples.operand_array_contents[k].insert(tuples.operand_array_contents[k].end(), value.begin(), value.end());
      rest /= values[k].size();
    }
  }
  return tuples;
}

}  // namespace assay::warp
