// Finds the values that decide which thread wins an atomic minimum or maximum of floats.
//
// The backward kernel computes the operand of such an atomic again and compares it with the final content of the array.
// Both kernels must round it alike, which a compiler does not guarantee: it may contract `a * b + c` into a fused
// multiply-add in one kernel only. The printers of source code use this analysis to prevent that.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// By expression of a function: whether the operand of an atomic minimum or maximum of floats, or the value that the
/// backward kernel compares with the final content, is computed from the value of the expression. Indices of arrays
/// are not followed. Empty if no expression is.
using ExtremumOperands = std::vector<bool>;

/// The operands in a kernel, its backward kernel, and the functions that they may call.
struct ExtremumOperandsOfKernel {
  ExtremumOperands forward, backward;
  std::vector<ExtremumOperands> functions;  ///< by index in Module::functions; empty if the kernel has no such atomic
};

/// Conservative: what a variable or an array contains is all that is assigned to it. The module must be valid, and
/// `backward` is null or the backward kernel of `forward`.
ExtremumOperandsOfKernel extremum_operands(const Module& module, const Function& forward, const Function* backward);

}  // namespace assay::ir
