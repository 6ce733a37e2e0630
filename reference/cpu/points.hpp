// A tracer that also evaluates each value at other points, where the inputs are moved along a direction, and the
// finite differences that are computed with it.
//
// One interpretation of the program evaluates the run and all points; the points follow the decisions of the run. If a
// point would decide differently, its values become meaningless and the run ends.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/cpu/arithmetic.hpp"
#include "reference/cpu/decisions.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/memory.hpp"
#include "reference/cpu/program.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// A tracer (machine.hpp) that also evaluates each value at other points. Values at the points have no error bounds.
class PointTracer {
 public:
  /// The values of one variable of the program at the points.
  struct Handle {
    // NOLINTNEXTLINE(modernize-use-equals-default): = default would clear the array, which is most of the cost.
    Handle() {}
    std::array<long double, kMaxShiftedPointCount>
        values_at_points;  ///< value at each point; valid if `varies_between_points`
    /// Whether the value differs between points; otherwise each point has the value of the run.
    bool varies_between_points = false;
  };
  using Value = TracedValue<Handle>;
  static constexpr bool kHasDerivatives = false;         ///< whether the tracer computes derivatives
  static constexpr bool kEvaluatesShiftedPoints = true;  ///< whether the tracer evaluates values at other points

  /// At most kMaxShiftedPointCount steps along the direction. Keeps references to all.
  PointTracer(const ComponentValues& direction, std::span<const long double> steps, const OracleRun& run);

  static bool active(const Handle&) { return false; }
  static bool carries(const Handle&) { return false; }
  static bool same(const Handle&, const Handle&) { return false; }
  bool full() const { return has_diverged_; }
  /// Whether a point left the path of the run.
  bool has_diverged() const { return has_diverged_; }
  std::size_t count() const { return steps_.size(); }

  /// An input with this value in the run.
  Handle input_handle(std::size_t parameter, std::size_t component, ir::Scalar, long double value) const;

  /// The hashes of the run's path before and after an operation. Each point must make the same decisions.
  struct PathChange {
    std::uint64_t path_hash_before;  ///< hash of the path before the operation
    std::uint64_t path_hash_after;   ///< hash of the path after the operation
  };
  /// Evaluates compute(arithmetic, operands) at each point.
  template <class Compute>
  Handle evaluate_at_points(ir::Scalar scalar, std::span<const Value* const> sources, PathChange step,
                            Compute compute) {
    Handle result;
    for (const Value* source : sources)
      result.varies_between_points |= source->h.varies_between_points;
    if (!result.varies_between_points) return result;
    operands_.resize(sources.size());
    operand_pointers_.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i)
      operand_pointers_[i] = &operands_[i];
    for (std::size_t k = 0; k < count(); ++k) {
      for (std::size_t i = 0; i < sources.size(); ++i)
        operands_[i].v = at(*sources[i], k);
      decisions_.resume(step.path_hash_before);
      result.values_at_points[k] = static_cast<long double>(compute(arithmetic(scalar), Operands(operand_pointers_)));
      has_diverged_ |= decisions_.summary().path_hash != step.path_hash_after;
    }
    return result;
  }
  /// Evaluates an operation of the table at each point.
  Handle evaluate_at_points(const Evaluator& evaluator, ir::Scalar scalar, std::span<const Value* const> sources,
                            PathChange step);
  /// a + sign * b at each point.
  Handle sum(const Value& a, const Value& b, int sign) const;

  /// Returns the value at a point.
  static long double at(const Value& value, std::size_t point) {
    return value.h.varies_between_points ? value.h.values_at_points[point] : value.f.v;
  }

 private:
  /// Returns the arithmetic of a float type.
  const BoundedArithmetic& arithmetic(ir::Scalar scalar) const {
    return arithmetic_by_type_[static_cast<std::size_t>(scalar) - static_cast<std::size_t>(ir::Scalar::kF16)];
  }

  const ComponentValues& direction_;                     ///< direction in which the inputs move
  std::span<const long double> steps_;                   ///< distance of each point in this direction
  DecisionRecorder decisions_;                           ///< decisions at the point that is being evaluated
  std::array<BoundedArithmetic, 4> arithmetic_by_type_;  ///< arithmetic of each float type, from f16 to f64
  std::vector<BoundedValue> operands_;  ///< operands of the current operation at one point, without bounds
  std::vector<const BoundedValue*> operand_pointers_;  ///< pointers to operands_
  bool has_diverged_ = false;                          ///< whether a point has left the path of the run
};

/// Computes the derivatives of all outputs along a direction by Ridders' method: central differences at steps that
/// shrink by the golden ratio, extrapolated to step zero (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)",
/// Advances in Engineering Software 4(2), 1982). The table has 6 rows and needs 12 evaluations. The first step is below
/// 2^-6 max(1, |x|) and at most `largest_step`. It is divided by 4, at most 6 times, until all points of the stencil
/// take the same path.
DirectionalDifferences ridders_extrapolation(const Program& program, const OracleRun& run,
                                             const ComponentValues& direction, long double largest_step);

}  // namespace assay::reference
