// A tracer that carries each value at further points: those that it has where the inputs are moved along a direction.
//
// All points go in step with the run itself, through one interpretation of the program, and follow its decisions. At a
// point that would decide otherwise what is carried means nothing from there on, and the run ends.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/cpu/arithmetic.hpp"
#include "reference/cpu/decisions.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/memory.hpp"

namespace assay::reference {

/// A tracer (machine.hpp). Values alone: nothing is known of what rounding does to them at the points.
class Points {
 public:
  struct Handle {
    // NOLINTNEXTLINE(modernize-use-equals-default): = default would clear the array, which is most of the cost.
    Handle() {}
    std::array<long double, kSteps> at;  ///< by point; of meaning where `moves`
    bool moves = false;                  ///< false: at all points what it is in the run itself
  };
  using Value = Datum<Handle>;
  static constexpr bool kDerivatives = false;
  static constexpr bool kPoints = true;

  /// At most kSteps steps along the direction. Keeps references to all.
  Points(const ComponentValues& direction, std::span<const long double> steps, const Run& run);

  static bool active(const Handle&) { return false; }
  static bool carries(const Handle&) { return false; }
  static bool same(const Handle&, const Handle&) { return false; }
  bool full() const { return strayed_; }
  /// Whether some point left the run's path.
  bool strayed() const { return strayed_; }
  std::size_t count() const { return steps_.size(); }

  /// An input that the run has as `value`.
  Handle leaf(std::size_t parameter, std::size_t leaf, ir::Scalar, long double value) const;

  /// Paths of the run before and after an operation: the points must go the same way.
  struct Way {
    std::uint64_t before;
    std::uint64_t after;
  };
  /// compute(arithmetic, operands), a number, at each of the points.
  template <class Compute>
  Handle follow(ir::Scalar scalar, std::span<const Value* const> sources, Way way, Compute compute) {
    Handle result;
    for (const Value* source : sources)
      result.moves |= source->h.moves;
    if (!result.moves) return result;
    operands_.resize(sources.size());
    pointers_.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i)
      pointers_[i] = &operands_[i];
    for (std::size_t k = 0; k < count(); ++k) {
      for (std::size_t i = 0; i < sources.size(); ++i)
        operands_[i].v = at(*sources[i], k);
      decisions_.resume(way.before);
      result.at[k] = static_cast<long double>(compute(arithmetic(scalar), Operands(pointers_)));
      strayed_ |= decisions_.summary().path != way.after;
    }
    return result;
  }
  /// An operation of the table at each of the points.
  Handle follow(const Evaluator& evaluator, ir::Scalar scalar, std::span<const Value* const> sources, Way way);
  /// a + sign * b at each of the points.
  Handle sum(const Value& a, const Value& b, int sign) const;

  /// What a value is at a point.
  static long double at(const Value& value, std::size_t point) { return value.h.moves ? value.h.at[point] : value.f.v; }

 private:
  const Arithmetic& arithmetic(ir::Scalar scalar) const {
    return arithmetics_[static_cast<std::size_t>(scalar) - static_cast<std::size_t>(ir::Scalar::kF16)];
  }

  const ComponentValues& direction_;
  std::span<const long double> steps_;
  DecisionRecorder decisions_;
  std::array<Arithmetic, 4> arithmetics_;
  std::vector<Bounded> operands_;  ///< of one operation at one point, without bounds
  std::vector<const Bounded*> pointers_;
  bool strayed_ = false;
};

}  // namespace assay::reference
