// A comparator with one fault, which the negative controls inside each case have to notice. Part of assay-planted
// alone.
#pragma once

#include "harness/compare/comparator.hpp"

namespace assay::harness {

/// score() without the seam.
Score right_score(const Computed& got, const Expected& expected);

/// What the planted fault makes of it.
Score planted_score(const Computed& got, const Expected& expected);

}  // namespace assay::harness
