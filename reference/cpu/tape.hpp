// The record of a run that the reverse sweep reads: which value came from which, with local derivatives.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/cpu/bound.hpp"

namespace assay::reference {

/// Number of a node; 0 for values that depend on no float input. Marked (Tape::kStill) where all derivatives are
/// exactly zero at these inputs, as of x * x at 0.
using Node = std::uint32_t;

/// A tracer (machine.hpp) that records a tape.
class Tape {
 public:
  using Handle = Node;
  static constexpr bool kDerivatives = true;
  static constexpr bool kPoints = false;
  /// Nodes that fit in reasonable memory, about 60 bytes each; the run ends there as at its budget.
  static constexpr std::size_t kMostNodes = 20'000'000;

  Tape();
  /// Empty again; keeps its memory.
  void clear();

  static constexpr Node kStill = Node{1} << 31U;

  static bool active(Node node) { return node != 0 && (node & kStill) == 0; }
  static bool carries(Node node) { return node != 0; }
  static bool same(Node a, Node b) { return a == b; }
  bool full() const { return types_.size() >= kMostNodes; }

  /// An input.
  Node leaf(std::size_t parameter, std::size_t leaf, ir::Scalar type, long double value);
  /// A result of an operation; partials[i] counts where bit i of `wanted` is set.
  Node combine(ir::Scalar type, std::span<const Node* const> sources, const Bounded* partials, std::uint32_t wanted) {
    Node mark = kStill;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (wanted >> i & 1U) mark &= connect(*sources[i], partials[i]);
    }
    return close(type) | mark;
  }
  /// old + sign * contribution.
  Node accumulate(ir::Scalar type, Node old, Node contribution, int sign);

  struct Edge {
    Node parent;
    std::uint32_t partial;  ///< kPlus, kMinus, kNothing, or number in the partials + kNumbered
  };
  static constexpr std::uint32_t kPlus = 0;
  static constexpr std::uint32_t kMinus = 1;
  static constexpr std::uint32_t kNothing = 2;  ///< exactly zero
  static constexpr std::uint32_t kNumbered = 3;
  struct ScalarComponent {
    std::size_t parameter;
    std::size_t leaf;
    Node node;
  };

  std::size_t size() const { return types_.size(); }
  ir::Scalar type(Node node) const { return types_[node]; }
  std::span<const Edge> edges(Node node) const {
    return std::span(edges_).subspan(first_edge_[node], first_edge_[node + 1] - first_edge_[node]);
  }
  const Bounded& partial(const Edge& edge) const { return partials_[edge.partial - kNumbered]; }
  const std::vector<ScalarComponent>& leaves() const { return leaves_; }

 private:
  Node close(ir::Scalar type) {
    types_.push_back(type);
    first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
    return static_cast<Node>(types_.size() - 1);
  }
  /// Gives kStill where nothing comes through this edge.
  Node connect(Node parent, const Bounded& partial) {
    const bool exact = partial.e[kNative] == 0 && partial.e[kPromoted] == 0;
    const Node number = parent & ~kStill;
    if (exact && partial.v == 0) {
      edges_.push_back({number, kNothing});
      return kStill;
    }
    if (exact && (partial.v == 1 || partial.v == -1)) {
      edges_.push_back({number, partial.v == 1 ? kPlus : kMinus});
    } else {
      edges_.push_back({number, static_cast<std::uint32_t>(partials_.size()) + kNumbered});
      partials_.push_back(partial);
    }
    return parent & kStill;
  }

  std::vector<ir::Scalar> types_;
  std::vector<std::uint32_t> first_edge_;  ///< one more than nodes
  std::vector<Edge> edges_;
  std::vector<Bounded> partials_;
  std::vector<ScalarComponent> leaves_;
};

/// Adjoint of one node: a sum of contributions in unknown order.
struct Adjoint {
  long double value = 0;
  PrecisionBounds errors = {};  ///< sum of the contributions' bounds
  double mass = 0;              ///< sum of |contributions|
  double reach = 0;             ///< sum over the paths from the seeds of |seed * derivatives|
  std::int64_t terms = 0;

  void add(long double contribution, const PrecisionBounds& bound) {
    value += contribution;
    mass += magnitude(contribution);
    ++terms;
    errors = std::bit_cast<PrecisionBounds>(pair_of(errors) + pair_of(bound));
  }
};

/// The reverse sweep: adjoints of all nodes, from the seeds.
class Sweep {
 public:
  /// Keeps references to all; `adjoints` is where it works.
  Sweep(const Tape& tape, const Profile& profile, std::vector<Adjoint>& adjoints);

  void seed(Node node, double cotangent);
  void run();
  const Adjoint& adjoint(Node node) const { return adjoints_[node]; }
  /// Bound of an adjoint as a sum of its terms and, if not 0, a prefill. Leaves are summed by global atomics.
  double bound(const Adjoint& adjoint, ir::Scalar type, std::size_t precision, double initial_gradient,
               bool is_leaf) const;

 private:
  const Format& format(ir::Scalar type, std::size_t precision) const {
    return formats_[precision == kPromoted ? static_cast<std::size_t>(ir::Scalar::kF64)
                                           : static_cast<std::size_t>(type)];
  }
  PrecisionBounds settled(const Adjoint& adjoint, ir::Scalar type) const;
  PrecisionBounds product_bound(const Adjoint& adjoint, const PrecisionBounds& errors, const Bounded& partial,
                                long double product, ir::Scalar type) const;
  /// What converting to a type of fewer digits adds to the bound of v.
  PrecisionBounds narrowed(long double v, PrecisionBounds bound, ir::Scalar to) const;
  void pass_on(const Adjoint& adjoint, const PrecisionBounds& errors, ir::Scalar type, const Tape::Edge& edge);
  void pass_on_nothing(Node node);

  const Tape& tape_;
  const Profile& profile_;
  std::array<Format, ir::kScalarCount> formats_;
  std::vector<FormatPair> pairs_;  ///< by scalar
  std::vector<Adjoint>& adjoints_;
};

}  // namespace assay::reference
