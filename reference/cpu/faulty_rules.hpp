// Wrong derivatives for the oracle, one at a time, which its self-test has to notice. Part of assay-faulty alone.
#pragma once

#include "reference/cpu/evaluators.hpp"

namespace assay::reference {

/// The row as it is, or with a wrong derivative where the planted fault is one of this operation.
const Evaluator& with_faulty_rule(const Evaluator& row);

}  // namespace assay::reference
