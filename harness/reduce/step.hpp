// A reduction step, applicable at many places of a kernel.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ir/module.hpp"

namespace assay::reduce {

/// Called once for each place at which a step can be applied, in an order that depends only on the module. Returns
/// whether to apply it there.
using Choose = std::function<bool()>;

/// A kind of change that makes a kernel smaller. It visits the places in the module where it applies, and changes the
/// module at the chosen ones. Any set of places can be chosen; if two exclude each other, the first one counts. The
/// module must be repaired (rewrite.hpp) before the step, and may need repair after it.
struct ReductionStep {
  std::string_view name;                     ///< name of the step, for progress: "drop statements"
  void (*walk)(ir::Module&, const Choose&);  ///< visits the places and applies the step at the chosen ones
  /// Whether the reducer also tries the step at all places except a few.
  bool tries_all_but_few_places = false;
};

/// All steps, the most effective first.
std::span<const ReductionStep> steps();

// The steps by kind.

// statements
void drop_stores_and_atomics(ir::Module& module,
                             const Choose& choose);  ///< stores and atomics, with statements that only they need
void drop_statements(ir::Module& module, const Choose& choose);  ///< any statements
void take_branches(ir::Module& module, const Choose& choose);    ///< an if becomes one of its blocks
void unwrap_loops(ir::Module& module, const Choose& choose);     ///< a loop becomes its body
void shorten_loops(ir::Module& module, const Choose& choose);    ///< a range becomes range(1) or range(2)
void inline_lets(ir::Module& module, const Choose& choose);      ///< variables that are used once or have short values
void inline_calls(ir::Module& module, const Choose& choose);     ///< calls of functions that consist of a return

// expressions
void take_operands(ir::Module& module, const Choose& choose);  ///< an expression becomes an operand of the same type
void take_plain_values(ir::Module& module, const Choose& choose);  ///< 0.5, 1, 0, true, false
void take_parameters(ir::Module& module, const Choose& choose);    ///< a parameter, or the thread's element of an array

// types
void narrow_scalars(ir::Module& module, const Choose& choose);   ///< floats to f32, integers to i32
void take_components(ir::Module& module, const Choose& choose);  ///< vectors and other aggregates to scalars

// declarations
void drop_parameters(ir::Module& module, const Choose& choose);   ///< unused parameters
void merge_parameters(ir::Module& module, const Choose& choose);  ///< a parameter becomes an earlier one of its type
void drop_fields(ir::Module& module, const Choose& choose);       ///< unused fields of structs
void drop_dimensions(ir::Module& module, const Choose& choose);   ///< dimensions of arrays and of the launch
void drop_derivatives(ir::Module& module, const Choose& choose);  ///< custom derivatives of functions

// inputs, fixed by preconditions above the kernel
void drop_preconditions(ir::Module& module, const Choose& choose);
void fix_launch(ir::Module& module, const Choose& choose);  ///< the launch gets 1, 2 or 4 threads per dimension
void fix_inputs(ir::Module& module, const Choose& choose);  ///< each parameter gets one value

}  // namespace assay::reduce
