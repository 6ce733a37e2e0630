// Which way a kernel goes at each of its choices, so that a judge knows which it has seen.
#pragma once

#include <cstddef>
#include <optional>

#include "ir/operations/operations.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// The choice that an operation on floats makes: those with a kink or jump between pieces. Empty for others.
std::optional<Choice::Kind> choice_of(ir::Op op);

/// The way that such an operation goes on these operands, as Choice::Kind numbers them.
std::size_t way_of(Choice::Kind kind, Operands operands);

}  // namespace assay::reference
