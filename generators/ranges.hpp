// Interval arithmetic over the operations, and the operand intervals for which each operation is well conditioned.
//
// Generators track an interval with every value, so that divisors stay away from zero, logarithms positive and
// sums small by construction. Bounds are rounded outward to a coarse grid: a math library that differs in the
// last bit must not change the kernel of a seed.
#pragma once

#include <span>

#include "ir/operations/operations.hpp"

namespace assay::generators {

using ir::Interval;

/// The interval of the inputs for a float parameter without a domain comment.
inline constexpr Interval kDefaultInputDomain{-2, 2};
inline constexpr Interval kModerateRange{-8, 8};  ///< the interval within which intermediate values are kept

constexpr bool contains(Interval outer, Interval inner) { return outer.low <= inner.low && inner.high <= outer.high; }
constexpr bool contains(Interval interval, double value) { return interval.low <= value && value <= interval.high; }
Interval hull(Interval a, Interval b);

/// Operands for which `op` is well conditioned in f32; kModerateRange if unrestricted.
Interval well_conditioned_range(ir::Op op, int operand);

/// An interval that contains op's result for all operands in the given intervals, which must be within
/// well_conditioned_range(op, i).
Interval range_of(ir::Op op, std::span<const Interval> operands);

/// `value` truncated toward zero to two significant decimal digits, as in hand-written constants.
double truncate_to_two_digits(double value);

}  // namespace assay::generators
