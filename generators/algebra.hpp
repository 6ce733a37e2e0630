// Grows random expressions of several types that are made of one another: vectors, matrices, quaternions, transforms
// and their scalars. What makes what is a table of productions, which the family gives.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "generators/grower.hpp"

namespace assay::generators {

/// A value of the type with each component in [-bound, bound], or in [0.5, bound] if it shall be positive.
struct Wanted {
  ir::Type type;
  double bound = 2;
  bool positive = false;
};

/// One way to make a value of the result's type.
struct Production {
  ir::Type result;
  std::vector<Wanted> operands;
  double bound;  ///< of the result's components for operands as wanted
  std::function<ir::ExprId(Sketch&, const std::vector<ir::ExprId>&)> make;
};

/// The production of an operation, of one with the result requested, and of a function of Warp's library.
Production by_operation(ir::Op op, ir::Type result, std::vector<Wanted> operands, double bound);
Production by_making(ir::Type result, std::vector<Wanted> operands);
Production by_library(std::string_view name, ir::Type result, std::vector<Wanted> operands, double bound);

/// What is alike for all aggregates of a type: sums, multiples, choices, all parts given, one part at a constant index.
std::vector<Production> usual_productions(ir::Type type);

class AlgebraGrower {
 public:
  AlgebraGrower(Sketch& sketch, ir::Type real, std::vector<Production> productions);

  Term grow(Wanted wanted, int depth);
  /// A leaf of the type, else a constant.
  Term leaf(ir::Type type);
  Term constant(ir::Type type, Interval interval = {-1.5, 1.5});
  /// Each component of the term brought into [-bound, bound].
  Term within(Term term, double bound);
  /// A scalar that depends on all components of the value.
  Term reduced(Term value);
  /// The scalar plus a multiple of every leaf that nothing used yet.
  Term with_unused(Term total);
  /// variable[k] = ..., for a constant part or in a loop over all of them; of a matrix also one component.
  void write_parts(ir::VarId variable);
  Grower& scalars() { return scalars_; }

 private:
  Term positive(Wanted wanted);

  Sketch& sketch_;
  ir::Builder& b_;
  ir::Type real_;
  Grower scalars_;
  std::vector<Production> productions_;
};

}  // namespace assay::generators
