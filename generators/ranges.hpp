// Where values lie: interval arithmetic over the operations, and the operands for which each behaves well.
//
// Generators track an interval with every value, so that divisors stay away from zero, logarithms positive and
// sums small by construction. Bounds are rounded outward to a coarse grid: a math library that differs in the
// last bit must not change which kernel a seed stands for.
#pragma once

#include <span>

#include "ir/operations/operations.hpp"

namespace assay::generators {

using ir::Interval;

/// Domain of a float parameter about which the kernel's comments say nothing.
inline constexpr Interval kUsualDomain{-2, 2};
/// Where intermediate values are kept.
inline constexpr Interval kTame{-8, 8};

constexpr bool contains(Interval outer, Interval inner) { return outer.low <= inner.low && inner.high <= outer.high; }
constexpr bool contains(Interval interval, double value) { return interval.low <= value && value <= interval.high; }
Interval hull(Interval a, Interval b);

/// Operands for which `op` is well conditioned in f32; kTame where any tame value will do.
Interval comfortable(ir::Op op, int operand);

/// An interval that holds op's result for all operands in theirs. Each operand lies in its comfortable interval.
Interval range_of(ir::Op op, std::span<const Interval> operands);

/// `value` cut towards zero to two significant decimal digits: how a person writes a constant.
double two_digits(double value);

}  // namespace assay::generators
