// The branches that a kernel takes at its choices, for branch coverage.
#pragma once

#include <cstddef>
#include <optional>

#include "ir/operations/operations.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// The choice made by a piecewise operation on floats; empty for other operations.
std::optional<BranchPoint::Kind> choice_of(ir::Op op);

/// The index of the branch that such an operation takes for these operands (see BranchPoint::Kind).
std::size_t branch_of(BranchPoint::Kind kind, Operands operands);

}  // namespace assay::reference
