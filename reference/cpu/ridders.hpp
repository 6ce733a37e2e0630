// Ridders' method: central differences at steps that shrink by the golden ratio, extrapolated to step zero (Ridders,
// "Accurate computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4(2), 1982).
#pragma once

#include "reference/cpu/program.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// Derivatives of all outputs along a direction: 6 rows, 12 evaluations. The first step is below 2^-6 max(1, |x|) and
/// at most `largest_step`; it is divided by 4, at most 6 times, until all points of the stencil take the same path.
DirectionalDifferences ridders(const Program& program, const OracleRun& run, const ComponentValues& direction,
                               long double largest_step);

}  // namespace assay::reference
