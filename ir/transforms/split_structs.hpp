// Replaces values of struct types by one value for each field.
#pragma once

#include "ir/module.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {

/// Without this, a struct is differentiated as a whole: if the reverse sweep needs one field, it also restores all
/// others and computes their adjoints.
///
/// Splits the loads and stores of structs, the values that a branch merges and the values that a loop carries. A field
/// that a loop does not change is not carried. Structs remain where a parameter, a custom gradient or another operation
/// has one.
void split_structs(const ir::Module& module, const ir::Function& kernel, SsaKernel& ssa);

}  // namespace assay::transforms
