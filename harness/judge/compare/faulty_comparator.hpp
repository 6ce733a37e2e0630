// A comparator with one fault, which the negative controls inside each case have to notice. Part of assay-faulty
// alone.
#pragma once

#include "harness/judge/compare/comparator.hpp"

namespace assay::harness {

/// score() without the seam.
Score original_score(const Computed& got, const Expected& expected);

/// What the planted fault makes of it.
Score faulty_score(const Computed& got, const Expected& expected);

}  // namespace assay::harness
