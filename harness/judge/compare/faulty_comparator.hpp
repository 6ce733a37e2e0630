// A comparator with one injected fault, which the negative controls of each case must detect. Compiled into
// assay-faulty only.
#pragma once

#include "harness/judge/compare/comparator.hpp"

namespace assay::harness {

/// score() without the injection point.
ScalarComparison original_score(const ComputedScalar& got, const ExpectedScalar& expected);

/// score() with the injected fault.
ScalarComparison faulty_score(const ComputedScalar& got, const ExpectedScalar& expected);

}  // namespace assay::harness
