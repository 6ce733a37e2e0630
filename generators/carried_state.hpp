// Loop-carried variables, with updates that neither overflow nor amplify errors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "generators/grower.hpp"

namespace assay::generators {

/// How an iteration changes the state s of a loop, given the value e that the body computes.
enum class LoopStateUpdate : std::uint8_t {
  kSum,             ///< s += e
  kProduct,         ///< s *= f, with f near 1
  kDecay,           ///< s = a * s + e, with a in (0, 1), a linear recurrence
  kHorner,          ///< s = s * x + c, with |x| < 1
  kSaturate,        ///< s = tanh(0.8 * s + e)
  kOscillate,       ///< s = sin(s + e)
  kRunningMaximum,  ///< s = max(0.9 * s, e); without the factor, a body that repeats its value would give a tie
  kGated,           ///< if e > c: s += e, else: s *= 0.9
  kRational,        ///< s = s / (1 + s * s) + 0.25 * e
};

/// A loop-carried variable and how an iteration changes it.
struct LoopCarriedVariable {
  ir::VarId variable = ir::kNone;                  ///< the variable
  LoopStateUpdate update = LoopStateUpdate::kSum;  ///< how an iteration changes the variable
  Interval invariant;  ///< interval that contains the variable before and after each iteration
  /// For kDecay: parameter that is the factor a; kNone: the factor is a constant.
  ir::VarId decay_parameter = ir::kNone;
  Interval factor_range;  ///< for kProduct: interval of the factor f
};

/// Declares a state of a random kind for at most `trips` updates.
LoopCarriedVariable start_state(ExpressionGenerator& generator, int trips, ir::VarId decay = ir::kNone);

/// The update of one iteration. With `use_all`, for the first state of a body, it uses every value that the body
/// offers.
void update_state(ExpressionGenerator& generator, const LoopCarriedVariable& state, bool use_all);

/// The arguments of range() in a loop, and the interval of its variable.
struct LoopRange {
  ir::ExprId start, stop, step;  ///< arguments of range()
  Interval index_range;          ///< interval of the loop variable
  int max_iterations;            ///< upper bound of the number of iterations
};

/// range(4), range(1, 9, 3), range(7, -1, -1), range(5, 2).
LoopRange constant_range(KernelSketch& sketch);
/// range(n), range(1, n), range(0, n, 2), range(n - 1, -1, -1) for an integer in [0, most].
LoopRange dynamic_range(KernelSketch& sketch, const std::function<ir::ExprId()>& n, int most);

/// Offers float(j) scaled to about 1 as a leaf of the type.
void offer_index(ExpressionGenerator& generator, ir::VarId index);

}  // namespace assay::generators
