#include "reference/cpu/tape.hpp"

#include <algorithm>
#include <cmath>

#include "reference/cpu/arithmetic.hpp"

namespace assay::reference {
namespace {

/// For each precision, unbounded if zero times v need not be zero because v has no finite value or bound, otherwise 0.
PrecisionBounds unknown_of(long double v, const PrecisionBounds& bounds) {
  PrecisionBounds unknown{};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (!std::isfinite(v) || !(bounds[precision] < kUnbounded)) unknown[precision] = kUnbounded;
  }
  return unknown;
}

/// The magnitude of a partial derivative for path magnitudes. If the derivative is zero within its bound, its terms
/// cancel, as they may in a custom gradient. They are then as large as numbers whose rounding gives the bound, or 1.
double slope_of(const BoundedValue& partial) {
  constexpr double kLeastCanceled = 1, kMostCanceled = 64;
  const double size = magnitude(partial.v);
  const double bound = partial.e[kPromoted];
  return size > bound ? size : std::max(size, std::clamp(bound * 0x1p53, kLeastCanceled, kMostCanceled));
}

}  // namespace

Tape::Tape() { clear(); }

void Tape::clear() {
  node_types_.assign(1, ir::Scalar::kF64);
  first_edge_indices_.assign(2, 0);
  edges_.clear();
  partials_.clear();
  inputs_.clear();
}

Node Tape::input_handle(std::size_t parameter, std::size_t component, ir::Scalar type, long double) {
  const Node node = add_node(type);
  inputs_.push_back({parameter, component, node});
  return node;
}

Node Tape::accumulate(ir::Scalar type, Node old, Node contribution, int sign) {
  if (contribution == 0) return old;
  if (old == 0 && sign > 0) return contribution;
  if (old != 0) edges_.push_back({old & ~kZeroDerivativeFlag, kPartialIsOne});
  edges_.push_back({contribution & ~kZeroDerivativeFlag, sign > 0 ? kPartialIsOne : kPartialIsMinusOne});
  return add_node(type) | ((old == 0 ? kZeroDerivativeFlag : old) & contribution & kZeroDerivativeFlag);
}

ReverseSweep::ReverseSweep(const Tape& tape, const ArithmeticProfile& profile, std::vector<Adjoint>& adjoints)
    : tape_(tape), profile_(profile), adjoints_(adjoints) {
  adjoints_.assign(tape.size(), {});
  for (std::size_t k = 0; k < formats_.size(); ++k)
    formats_[k] = format_of(static_cast<ir::Scalar>(k), profile.flushes_subnormals);
  for (const FloatFormat& native : formats_)
    format_pairs_.emplace_back(native, formats_[static_cast<std::size_t>(ir::Scalar::kF64)]);
}

void ReverseSweep::seed(Node node, double cotangent) {
  if (node == 0 || cotangent == 0) return;
  Adjoint& adjoint = adjoints_[node & ~Tape::kZeroDerivativeFlag];
  adjoint.add(cotangent, {});
  adjoint.path_magnitude += std::abs(cotangent);
}

double ReverseSweep::adjoint_bound(const Adjoint& adjoint, ir::Scalar type, std::size_t precision,
                                   double initial_gradient, bool is_leaf) const {
  const FloatFormat& own = format(type, precision);
  const std::int64_t terms = adjoint.contribution_count + (initial_gradient != 0 ? 1 : 0);
  const double magnitude_sum = adjoint.magnitude_sum + adjoint.error_sum[precision] + std::abs(initial_gradient);
  if (!(magnitude_sum < kUnbounded))
    return std::isfinite(adjoint.value) || adjoint.error_sum[precision] > 0 ? kUnbounded : 0;
  if (terms == 0) return 0;
  const bool flushes =
      is_leaf && precision == kNative && profile_.native_library == MathLibrary::kCuda && type == ir::Scalar::kF32;
  const double n = static_cast<double>(terms);
  double e = adjoint.error_sum[precision] + (n - 1) * own.unit_roundoff * magnitude_sum + (flushes ? n * 0x1p-126 : 0);
  if (terms > 1) e += n * kOracleUnitRoundoff * magnitude_sum;
  // A partial sum may overflow even if the whole sum does not.
  return e == 0 ? 0 : bound_with_oracle_error(own, terms > 1 ? magnitude_sum : magnitude(adjoint.value), e);
}

/// The bounds of the adjoint of a node, whose terms are summed in an unspecified order.
PrecisionBounds ReverseSweep::settled(const Adjoint& adjoint, ir::Scalar type) const {
  const Pair errors = pair_of(adjoint.error_sum);
  const Pair magnitude_sum = adjoint.magnitude_sum + errors;
  // Overflow is rare.
  if (!(magnitude_sum[kNative] < kUnbounded && magnitude_sum[kPromoted] < kUnbounded))
    return {adjoint_bound(adjoint, type, kNative, 0, false), adjoint_bound(adjoint, type, kPromoted, 0, false)};
  const FloatFormatPair& own = format_pairs_[static_cast<std::size_t>(type)];
  const auto n = static_cast<double>(adjoint.contribution_count);
  Pair e = errors + (n - 1) * own.unit_roundoff * magnitude_sum;
  if (adjoint.contribution_count > 1) e += n * kOracleUnitRoundoff * magnitude_sum;
  const Pair settled = bound_with_oracle_error(
      own, adjoint.contribution_count > 1 ? adjoint.magnitude_sum : magnitude(adjoint.value), e);
  return std::bit_cast<PrecisionBounds>(e == 0.0 ? Pair{0, 0} : settled);
}

PrecisionBounds ReverseSweep::product_bound(const Adjoint& adjoint, const PrecisionBounds& errors,
                                            const BoundedValue& partial, long double product, ir::Scalar type) const {
  const PrecisionBounds p = propagated_product_error(magnitude(adjoint.value), errors, magnitude(partial.v), partial.e);
  if (std::isfinite(product))
    return rounded_result_bound(format_pairs_[static_cast<std::size_t>(type)], magnitude(product), pair_of(p));
  return {p[kNative] == 0 ? 0 : kUnbounded, p[kPromoted] == 0 ? 0 : kUnbounded};
}

PrecisionBounds ReverseSweep::narrowed(long double v, PrecisionBounds bound, ir::Scalar to) const {
  double& e = bound[kNative];
  if (e < kUnbounded) {
    const FloatFormat& narrow = format(to, kNative);
    e = bound_with_oracle_error(narrow, magnitude(v), e + error_from_rounded_result(narrow, magnitude(v) + e, 0));
  }
  return bound;
}

/// Adds adjoint * partial, rounded to the type of the operation and then of the parent, to the adjoint of the parent.
void ReverseSweep::propagate(const Adjoint& adjoint, const PrecisionBounds& errors, ir::Scalar type,
                             const Tape::Edge& edge) {
  Adjoint& parent = adjoints_[edge.parent];
  if (edge.partial_code == Tape::kPartialIsZero) {
    // Zero times an adjoint without a finite value or bound is unspecified, as in propagate_zero.
    const PrecisionBounds unknown = unknown_of(adjoint.value, errors);
    if (!both_zero(unknown)) parent.add(0, unknown);
    return;
  }
  long double v = edge.partial_code == Tape::kPartialIsMinusOne ? -adjoint.value : adjoint.value;
  PrecisionBounds e = errors;
  double slope = 1;
  if (edge.partial_code >= Tape::kFirstStoredPartialCode) {
    const BoundedValue& partial = tape_.partial(edge);
    v = adjoint.value * partial.v;
    e = product_bound(adjoint, errors, partial, v, type);
    slope = slope_of(partial);
  }
  const ir::Scalar to = tape_.type(edge.parent);
  if (to != type && ir::row(to).significant_bits < ir::row(type).significant_bits) e = narrowed(v, e, to);
  parent.add(v, e);
  parent.path_magnitude += scaled(slope, adjoint.path_magnitude);
}

/// Propagates a zero adjoint, which contributes nothing unless the derivative has no finite value or bound. Zero times
/// such a derivative need not be zero: code that computes the product gets NaN, code that omits it gets zero.
void ReverseSweep::propagate_zero(Node node) {
  for (const Tape::Edge& edge : tape_.edges(node)) {
    if (edge.partial_code < Tape::kFirstStoredPartialCode) continue;
    const BoundedValue& partial = tape_.partial(edge);
    const PrecisionBounds unknown = unknown_of(partial.v, partial.e);
    if (!both_zero(unknown)) adjoints_[edge.parent].add(0, unknown);
  }
}

void ReverseSweep::run() {
  for (std::size_t i = tape_.size(); i-- > 1;) {
    const auto node = static_cast<Node>(i);
    const auto edges = tape_.edges(node);
    const Adjoint& adjoint = adjoints_[node];
    if (edges.empty()) continue;
    const ir::Scalar type = tape_.type(node);
    const PrecisionBounds errors = adjoint.contribution_count == 0 ? PrecisionBounds{} : settled(adjoint, type);
    if (adjoint.value == 0 && both_zero(errors)) {
      propagate_zero(node);
      continue;
    }
    for (const Tape::Edge& edge : edges)
      propagate(adjoint, errors, type, edge);
  }
}

}  // namespace assay::reference
