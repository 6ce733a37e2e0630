// Records the decisions of a run and how close each decision was to its other outcome.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// Records the decisions of one run.
class DecisionRecorder {
 public:
  explicit DecisionRecorder(const ForcedPath& forced) : forced_path_(forced) {}

  /// Sets the source location of the deciding instruction, for messages.
  void at(ir::Loc loc) { loc_ = loc; }

  /// Records a decision that affects forward values. A change of `distance` would lead to the other outcome, and
  /// `slack` is the error of this distance in each precision. Returns whether the run must take the other outcome
  /// (ForcedPath).
  bool record_decision(double distance, const PrecisionBounds& slack) {
    bool flip = false;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
      if (!is_uncertain(distance, slack[precision])) continue;
      if (precision == forced_path_.precision) flip = is_flipped(summary_.uncertain_decision_counts[precision]);
      ++summary_.uncertain_decision_counts[precision];
      record_location();
    }
    return flip;
  }

  /// Ignores kinks if the current operands carry no derivative.
  void ignore_kinks(bool ignore) { ignores_kinks_ = ignore; }
  /// Records a decision that affects only derivatives; see record_decision().
  void record_kink(double distance, const PrecisionBounds& slack) {
    if (ignores_kinks_) return;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
      if (!is_uncertain(distance, slack[precision])) continue;
      ++summary_.uncertain_kinks[precision];
      record_location();
    }
  }

  /// Takes back this number of uncertain kinks, by precision, because the derivatives that they change have no effect.
  void forget_kinks(const std::array<std::int64_t, kPrecisionCount>& counts) {
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      summary_.uncertain_kinks[precision] -= counts[precision];
  }

  /// Records a decision with more than two possible outcomes.
  void mark_not_enumerable(std::size_t precision) { summary_.is_enumerable[precision] = false; }

  /// Adds an outcome to the hash of the path.
  void record_outcome(std::uint64_t value) {
    summary_.path_hash = (summary_.path_hash ^ value) * 0x9e3779b97f4a7c15 + (summary_.path_hash >> 29);
  }

  /// Continues from the path of another run.
  void resume(std::uint64_t path) { summary_.path_hash = path; }

  const DecisionSummary& summary() const { return summary_; }

 private:
  /// Returns whether the error `slack` allows the other outcome. If the slack is infinite, the distance may be NaN,
  /// such as 0 / 0 if the divisor need not be exactly 0.
  static bool is_uncertain(double distance, double slack) {
    return slack > 0 && (distance <= slack || slack == kUnbounded);
  }
  /// Returns whether the uncertain decision with this number must take its other outcome.
  bool is_flipped(std::int64_t decision) const {
    const auto k = static_cast<std::size_t>(decision);
    return k < forced_path_.flipped_decisions.size() && forced_path_.flipped_decisions[k];
  }
  /// Adds the current source location to the uncertain locations, of which only the first few are kept.
  void record_location() {
    constexpr std::size_t kMaxLocations = 8;
    if (summary_.uncertain_locations.size() < kMaxLocations) summary_.uncertain_locations.push_back(loc_);
  }

  const ForcedPath& forced_path_;  ///< decisions that must take their other outcome
  DecisionSummary summary_;        ///< decisions recorded so far
  ir::Loc loc_;                    ///< source location of the deciding instruction
  bool ignores_kinks_ = false;     ///< whether decisions that affect only derivatives are ignored
};

}  // namespace assay::reference
