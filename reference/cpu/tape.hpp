// The tape of a run for the reverse sweep: the operands of each value, with local derivatives.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/cpu/bound.hpp"

namespace assay::reference {

/// Index of a node; 0 for values that do not depend on a float input. Marked with Tape::kZeroDerivativeFlag if all
/// derivatives are exactly zero at these inputs, as for x * x at 0.
using Node = std::uint32_t;

/// The tracer (machine.hpp) that records a tape.
class Tape {
 public:
  using Handle = Node;
  static constexpr bool kHasDerivatives = true;           ///< whether the tracer computes derivatives
  static constexpr bool kEvaluatesShiftedPoints = false;  ///< whether the tracer evaluates values at other points
  /// The maximum number of nodes, which limits the memory: a node needs about 60 bytes. Reaching it ends the run like
  /// the instruction limit.
  static constexpr std::size_t kMaxNodes = 20'000'000;

  Tape();
  /// Clears the tape but keeps its memory.
  void clear();

  /// Bit of a Node whose derivatives are all exactly zero at these inputs.
  static constexpr Node kZeroDerivativeFlag = Node{1} << 31U;

  static bool active(Node node) { return node != 0 && (node & kZeroDerivativeFlag) == 0; }
  static bool carries(Node node) { return node != 0; }
  static bool same(Node a, Node b) { return a == b; }
  bool full() const { return node_types_.size() >= kMaxNodes; }

  /// An input.
  Node input_handle(std::size_t parameter, std::size_t component, ir::Scalar type, long double value);
  /// Adds a node for the result of an operation; partials[i] is used if bit i of `wanted` is set.
  Node apply_chain_rule(ir::Scalar type, std::span<const Node* const> sources, const BoundedValue* partials,
                        std::uint32_t wanted) {
    Node zero_derivative_flag = kZeroDerivativeFlag;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (wanted >> i & 1U) zero_derivative_flag &= add_edge(*sources[i], partials[i]);
    }
    return add_node(type) | zero_derivative_flag;
  }
  /// old + sign * contribution.
  Node accumulate(ir::Scalar type, Node old, Node contribution, int sign);

  /// The dependence of a node on one operand.
  struct Edge {
    Node parent;  ///< node of the operand
    /// Partial derivative by the operand: kPartialIsOne, kPartialIsMinusOne, kPartialIsZero, or kFirstStoredPartialCode
    /// plus an index in partials_.
    std::uint32_t partial_code;
  };
  static constexpr std::uint32_t kPartialIsOne = 0;       ///< partial derivative of exactly 1
  static constexpr std::uint32_t kPartialIsMinusOne = 1;  ///< partial derivative of exactly -1
  static constexpr std::uint32_t kPartialIsZero = 2;      ///< partial derivative of exactly 0
  /// Code of the partial derivative with index 0 in partials_.
  static constexpr std::uint32_t kFirstStoredPartialCode = 3;
  /// An input of the run and its node.
  struct Input {
    std::size_t parameter;  ///< number of the parameter
    std::size_t component;  ///< number of the scalar component in the array
    Node node;              ///< node of the input
  };

  std::size_t size() const { return node_types_.size(); }
  ir::Scalar type(Node node) const { return node_types_[node]; }
  /// Returns the edges of a node.
  std::span<const Edge> edges(Node node) const {
    return std::span(edges_).subspan(first_edge_indices_[node],
                                     first_edge_indices_[node + 1] - first_edge_indices_[node]);
  }
  const BoundedValue& partial(const Edge& edge) const { return partials_[edge.partial_code - kFirstStoredPartialCode]; }
  const std::vector<Input>& inputs() const { return inputs_; }

 private:
  /// Adds a node without edges.
  Node add_node(ir::Scalar type) {
    node_types_.push_back(type);
    first_edge_indices_.push_back(static_cast<std::uint32_t>(edges_.size()));
    return static_cast<Node>(node_types_.size() - 1);
  }
  /// Adds an edge to the next node. Returns kZeroDerivativeFlag if the derivative through this edge is zero.
  Node add_edge(Node parent, const BoundedValue& partial) {
    const bool exact = partial.e[kNative] == 0 && partial.e[kPromoted] == 0;
    const Node number = parent & ~kZeroDerivativeFlag;
    if (exact && partial.v == 0) {
      edges_.push_back({number, kPartialIsZero});
      return kZeroDerivativeFlag;
    }
    if (exact && (partial.v == 1 || partial.v == -1)) {
      edges_.push_back({number, partial.v == 1 ? kPartialIsOne : kPartialIsMinusOne});
    } else {
      edges_.push_back({number, static_cast<std::uint32_t>(partials_.size()) + kFirstStoredPartialCode});
      partials_.push_back(partial);
    }
    return parent & kZeroDerivativeFlag;
  }

  std::vector<ir::Scalar> node_types_;  ///< type of each node
  /// Index in edges_ of the first edge of each node, and at the end the number of edges.
  std::vector<std::uint32_t> first_edge_indices_;
  std::vector<Edge> edges_;             ///< edges of all nodes, one node after another
  std::vector<BoundedValue> partials_;  ///< partial derivatives other than 1, -1 and 0
  std::vector<Input> inputs_;           ///< inputs that have a node
};

/// The adjoint of one node, a sum of contributions in an unspecified order.
struct Adjoint {
  long double value = 0;                ///< sum of the contributions
  PrecisionBounds error_sum = {};       ///< sum of the error bounds of the contributions, by precision
  double magnitude_sum = 0;             ///< sum of the contributions' magnitudes
  double path_magnitude = 0;            ///< sum of |cotangent * partial derivatives| over all paths from the outputs
  std::int64_t contribution_count = 0;  ///< number of contributions

  /// Adds a contribution.
  void add(long double contribution, const PrecisionBounds& bound) {
    value += contribution;
    magnitude_sum += magnitude(contribution);
    ++contribution_count;
    error_sum = std::bit_cast<PrecisionBounds>(pair_of(error_sum) + pair_of(bound));
  }
};

/// Computes the adjoints of all nodes from the cotangents.
class ReverseSweep {
 public:
  /// Keeps references to all; `adjoints` is working memory.
  ReverseSweep(const Tape& tape, const ArithmeticProfile& profile, std::vector<Adjoint>& adjoints);

  void seed(Node node, double cotangent);  ///< adds a cotangent of the node
  void run();
  const Adjoint& adjoint(Node node) const { return adjoints_[node]; }
  /// Returns the bound of an adjoint, as a sum of its terms and an initial gradient that is not zero. `is_leaf`:
  /// whether it is an input, whose gradient is summed by atomics.
  double adjoint_bound(const Adjoint& adjoint, ir::Scalar type, std::size_t precision, double initial_gradient,
                       bool is_leaf) const;

 private:
  /// Returns the float format of a type in a precision.
  const FloatFormat& format(ir::Scalar type, std::size_t precision) const {
    return formats_[precision == kPromoted ? static_cast<std::size_t>(ir::Scalar::kF64)
                                           : static_cast<std::size_t>(type)];
  }
  PrecisionBounds settled(const Adjoint& adjoint, ir::Scalar type) const;
  /// Returns the bounds of the product of an adjoint and a partial derivative.
  PrecisionBounds product_bound(const Adjoint& adjoint, const PrecisionBounds& errors, const BoundedValue& partial,
                                long double product, ir::Scalar type) const;
  /// Bound of v after conversion to a type with fewer digits.
  PrecisionBounds narrowed(long double v, PrecisionBounds bound, ir::Scalar to) const;
  void propagate(const Adjoint& adjoint, const PrecisionBounds& errors, ir::Scalar type, const Tape::Edge& edge);
  void propagate_zero(Node node);

  const Tape& tape_;                                   ///< tape of the run
  const ArithmeticProfile& profile_;                   ///< how the judged code calculates
  std::array<FloatFormat, ir::kScalarCount> formats_;  ///< format of each scalar type
  std::vector<FloatFormatPair> format_pairs_;          ///< formats of both precision variants, by scalar type
  std::vector<Adjoint>& adjoints_;                     ///< adjoint of each node
};

}  // namespace assay::reference
