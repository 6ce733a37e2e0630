#include "reference/cpu/tape.hpp"

#include <cmath>

namespace assay::reference {

Tape::Tape(std::size_t expected) : types_{ir::Scalar::kF64}, first_edge_{0, 0} {
  types_.reserve(expected);
  first_edge_.reserve(expected);
  edges_.reserve(2 * expected);
  partials_.reserve(expected);
}

Node Tape::leaf(std::size_t parameter, std::size_t leaf, ir::Scalar type, long double) {
  const Node node = close(type);
  leaves_.push_back({parameter, leaf, node});
  return node;
}

Node Tape::accumulate(ir::Scalar type, Node old, Node contribution, int sign) {
  if (contribution == 0) return old;
  if (old == 0 && sign > 0) return contribution;
  if (old != 0) edges_.push_back({old, kPlus});
  edges_.push_back({contribution, sign > 0 ? kPlus : kMinus});
  return close(type);
}

Sweep::Sweep(const Tape& tape, const Profile& profile) : tape_(tape), profile_(profile), adjoints_(tape.size()) {
  for (std::size_t k = 0; k < formats_.size(); ++k)
    formats_[k] = format_of(static_cast<ir::Scalar>(k), profile.flush_to_zero);
  for (const Format& native : formats_)
    pairs_.emplace_back(native, formats_[static_cast<std::size_t>(ir::Scalar::kF64)]);
}

void Sweep::seed(Node node, double cotangent) {
  if (node == 0 || cotangent == 0) return;
  adjoints_[node].add({cotangent, {}});
  adjoints_[node].reach += std::abs(cotangent);
}

double Sweep::bound(const Adjoint& adjoint, ir::Scalar type, std::size_t lane, double prefill, bool is_leaf) const {
  const Format& own = format(type, lane);
  const std::int64_t terms = adjoint.terms + (prefill != 0 ? 1 : 0);
  const double mass = adjoint.mass + adjoint.errors[lane] + std::abs(prefill);
  if (!(mass < kUnbounded)) return std::isfinite(adjoint.value) || adjoint.errors[lane] > 0 ? kUnbounded : 0;
  if (terms == 0) return 0;
  const bool flushes =
      is_leaf && lane == kNative && profile_.native_library == MathLibrary::kCuda && type == ir::Scalar::kF32;
  const double n = static_cast<double>(terms);
  double e = adjoint.errors[lane] + (n - 1) * own.unit * mass + (flushes ? n * 0x1p-126 : 0);
  if (terms > 1) e += n * kOracleUnit * mass;
  return e == 0 ? 0 : settle(own, magnitude(adjoint.value), e);
}

Bounded Sweep::settled(Node node) const {
  const Adjoint& adjoint = adjoints_[node];
  const ir::Scalar type = tape_.type(node);
  const Pair errors = pair_of(adjoint.errors);
  const Pair mass = adjoint.mass + errors;
  // What overflows is rare.
  if (!(mass[kNative] < kUnbounded && mass[kLift] < kUnbounded))
    return {adjoint.value, {bound(adjoint, type, kNative, 0, false), bound(adjoint, type, kLift, 0, false)}};
  const FormatPair& own = pairs_[static_cast<std::size_t>(type)];
  const auto n = static_cast<double>(adjoint.terms);
  Pair e = errors + (n - 1) * own.unit * mass;
  if (adjoint.terms > 1) e += n * kOracleUnit * mass;
  const Pair settled = settle(own, magnitude(adjoint.value), e);
  return {adjoint.value, std::bit_cast<LaneBounds>(e == 0.0 ? Pair{0, 0} : settled)};
}

LaneBounds Sweep::product_bound(const Bounded& adjoint, const Bounded& partial, long double product,
                                ir::Scalar type) const {
  const LaneBounds p = product_error(magnitude(adjoint.v), adjoint.e, magnitude(partial.v), partial.e);
  if (std::isfinite(product))
    return settle_rounded(pairs_[static_cast<std::size_t>(type)], magnitude(product), pair_of(p));
  return {p[kNative] == 0 ? 0 : kUnbounded, p[kLift] == 0 ? 0 : kUnbounded};
}

/// adjoint * partial, rounded to the operation's type and then to the parent's.
Bounded Sweep::contribution(const Bounded& adjoint, const Tape::Edge& edge, ir::Scalar type) const {
  const ir::Scalar parent_type = tape_.type(edge.parent);
  const bool passes = edge.partial < 2;
  Bounded result = adjoint;
  if (passes) {
    if (edge.partial == Tape::kMinus) result.v = -result.v;
  } else {
    const Bounded& partial = tape_.partial(edge);
    result.v = adjoint.v * partial.v;
    result.e = product_bound(adjoint, partial, result.v, type);
  }
  double& e = result.e[kNative];
  if (parent_type != type && ir::row(parent_type).digits < ir::row(type).digits && e < kUnbounded) {
    const Format& narrow = format(parent_type, kNative);
    const double m = magnitude(result.v);
    e = settle(narrow, m, e + half(narrow, m + e, 0));
  }
  return result;
}

void Sweep::run() {
  for (std::size_t i = tape_.size(); i-- > 1;) {
    const auto node = static_cast<Node>(i);
    const auto edges = tape_.edges(node);
    if (edges.empty() || adjoints_[node].terms == 0) continue;
    const Bounded adjoint = settled(node);
    if (adjoint.v == 0 && adjoint.e[kNative] == 0 && adjoint.e[kLift] == 0) continue;
    for (const Tape::Edge& edge : edges) {
      Adjoint& parent = adjoints_[edge.parent];
      parent.add(contribution(adjoint, edge, tape_.type(node)));
      parent.reach += scaled(edge.partial < 2 ? 1 : magnitude(tape_.partial(edge).v), adjoints_[node].reach);
    }
  }
}

}  // namespace assay::reference
