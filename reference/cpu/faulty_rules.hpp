// Incorrect derivatives for the oracle, one at a time, which its self-check must detect. Only part of assay-faulty.
#pragma once

#include "reference/cpu/evaluators.hpp"

namespace assay::reference {

/// The row unchanged, or with an incorrect derivative if the injected fault affects this operation.
const Evaluator& with_faulty_rule(const Evaluator& row);

}  // namespace assay::reference
