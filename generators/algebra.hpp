// Grows random expressions of aggregate types: vectors, matrices, quaternions, transforms and their scalars. The family
// provides a table of productions from which the expressions are built.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "generators/grower.hpp"

namespace assay::generators {

/// The type of an operand, and the bounds of its components: [-max_magnitude, max_magnitude] or, if it must be
/// positive, [0.5, max_magnitude].
struct ComponentBounds {
  ir::Type type;             ///< type of the operand
  double max_magnitude = 2;  ///< upper bound of the magnitude of each component
  bool is_positive = false;  ///< whether each component must be at least 0.5
};

/// One way to build a value of a type from operands.
struct Production {
  ir::Type result_type;                   ///< type of the built value
  std::vector<ComponentBounds> operands;  ///< types and bounds of the operands
  double max_magnitude;  ///< maximum magnitude of the result's components, for operands within their bounds
  std::function<ir::ExprId(KernelSketch&, const std::vector<ir::ExprId>&)>
      make;  ///< builds the value from the operands
};

/// The production of an operation, of a constructor, and of a function of Warp's library.
Production operation_production(ir::Op op, ir::Type result, std::vector<ComponentBounds> operands, double bound);
Production constructor_production(ir::Type result, std::vector<ComponentBounds> operands);
/// Returns the production that calls a function of Warp's library.
Production library_production(std::string_view name, ir::Type result, std::vector<ComponentBounds> operands,
                              double bound);

/// Productions common to all aggregate types: sums, multiples, selections, construction from all components, and one
/// component at a constant index.
std::vector<Production> common_productions(ir::Type type);

/// Builds random expressions of aggregate types.
class AlgebraGenerator {
 public:
  AlgebraGenerator(KernelSketch& sketch, ir::Type real, std::vector<Production> productions);

  RangedExpression grow(ComponentBounds wanted, int depth);  ///< a value within the bounds
  /// A leaf of the type; a constant if there is none.
  RangedExpression leaf(ir::Type type);
  RangedExpression constant(ir::Type type, Interval interval = {-1.5, 1.5});  ///< each component in the interval
  /// The term with each component mapped into [-bound, bound].
  RangedExpression within(RangedExpression term, double bound);
  /// A scalar that depends on all components of the value.
  RangedExpression reduced(RangedExpression value);
  /// The scalar plus a multiple of every unused leaf.
  RangedExpression add_unused_leaves(RangedExpression total);
  /// variable[k] = ..., for a constant index or in a loop over all of them; for a matrix also a single element.
  void write_parts(ir::VarId variable);
  ExpressionGenerator& scalars() { return scalar_generator_; }

 private:
  RangedExpression positive(ComponentBounds wanted);  ///< a value with positive components

  KernelSketch& sketch_;                  ///< kernel that the expressions belong to
  ir::Builder& builder_;                  ///< builds the expressions
  ir::Type float_type_;                   ///< float type of the components
  ExpressionGenerator scalar_generator_;  ///< builds scalar operands
  std::vector<Production> productions_;   ///< productions from which one is drawn for each node
};

}  // namespace assay::generators
