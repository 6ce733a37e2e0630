// One way to make a kernel smaller, at many places of it.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ir/module.hpp"

namespace assay::reduce {

/// Called once for each place at which a step can be taken, in an order that depends on the module alone; whether to
/// take it there.
using Choose = std::function<bool()>;

/// A step visits its places, asks at each and changes the module where it shall. Any choice of places can be taken at
/// once; where two exclude one another, the first counts. The module is settled (rewrite.hpp) before, and need not be
/// whole after.
struct Step {
  std::string_view name;  ///< "drop statements", for progress
  void (*walk)(ir::Module&, const Choose&);
  /// Whether it is also worth taking at all places but a few: what is left then still makes a kernel.
  bool takes_most = false;
};

/// All steps, those that take the most away first.
std::span<const Step> steps();

// Of steps(), by what they change.

// statements
void drop_effects(ir::Module& module, const Choose& choose);  ///< stores and atomics, and so what they alone need
void drop_statements(ir::Module& module, const Choose& choose);
void take_arms(ir::Module& module, const Choose& choose);      ///< an if becomes one of its blocks
void unwrap_loops(ir::Module& module, const Choose& choose);   ///< a loop becomes its body
void shorten_loops(ir::Module& module, const Choose& choose);  ///< a range becomes range(1) or range(2)
void inline_lets(ir::Module& module, const Choose& choose);    ///< what is used once, or short
void inline_calls(ir::Module& module, const Choose& choose);   ///< of functions that only return something

// expressions
void take_operands(ir::Module& module, const Choose& choose);      ///< an operand of the same type
void take_plain_values(ir::Module& module, const Choose& choose);  ///< 0.5, 1, 0, true, false
void take_parameters(ir::Module& module, const Choose& choose);    ///< a parameter, or the thread's element of one

// types
void narrow_scalars(ir::Module& module, const Choose& choose);   ///< floats to f32, integers to i32
void take_components(ir::Module& module, const Choose& choose);  ///< vectors and other aggregates to scalars

// declarations
void drop_parameters(ir::Module& module, const Choose& choose);   ///< that nothing mentions
void merge_parameters(ir::Module& module, const Choose& choose);  ///< with an earlier one of the same type
void drop_fields(ir::Module& module, const Choose& choose);       ///< of structs, that nothing mentions
void drop_dimensions(ir::Module& module, const Choose& choose);   ///< of arrays and of the launch
void drop_derivatives(ir::Module& module, const Choose& choose);  ///< that the source gives for its functions

// inputs, which comments above the kernel fix
void drop_preconditions(ir::Module& module, const Choose& choose);
void fix_launch(ir::Module& module, const Choose& choose);  ///< to 1, 2 or 4 threads a dimension
void fix_inputs(ir::Module& module, const Choose& choose);  ///< each parameter to one value

}  // namespace assay::reduce
