// Grows integer expressions whose values stay inside their type, so that nothing wraps.
#pragma once

#include "generators/sketch.hpp"

namespace assay::generators {

/// One of the eight integer types; i32 about every other time.
ir::Type choose_integer_type(Rng& rng);
/// A domain of parameters that leaves room for a few operations in any type of 8 bits or more.
Interval small_domain(ir::Type integer);
/// A tree of + - * / // % and negation over the leaves of the type, with divisors away from zero.
RangedExpression grow_integer(KernelSketch& sketch, ir::Type integer, int depth);
/// An int32 or other integer comparison: i % 3 == 1, k < 4.
RangedExpression integer_condition(KernelSketch& sketch, ir::Type integer);

}  // namespace assay::generators
