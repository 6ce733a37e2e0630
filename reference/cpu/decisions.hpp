// Records what a run decides, and how close to the other outcome each decision was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

class DecisionRecorder {
 public:
  explicit DecisionRecorder(const ForcedPath& forced) : forced_(forced) {}

  /// Place of the instruction that decides, for messages.
  void at(ir::Loc loc) { loc_ = loc; }

  /// A decision that changes values, `distance` away from the other outcome; returns true where the other
  /// outcome is forced. `slack` is by how much each lane's computed distance may differ.
  bool overturned(double distance, const PrecisionBounds& slack) {
    bool flip = false;
    for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
      if (!uncertain(distance, slack[precision])) continue;
      if (precision == forced_.precision) flip = forced(summary_.uncertain[precision]);
      ++summary_.uncertain[precision];
      note_place();
    }
    return flip;
  }

  /// Whether the operands at hand carry no derivative, so that it does not matter how it jumps.
  void ignore_kinks(bool ignore) { ignores_kinks_ = ignore; }
  /// A decision that changes derivatives only.
  void kink(double distance, const PrecisionBounds& slack) {
    if (ignores_kinks_) return;
    for (std::size_t precision = 0; precision < kPrecisions; ++precision) {
      if (!uncertain(distance, slack[precision])) continue;
      ++summary_.uncertain_kinks[precision];
      note_place();
    }
  }

  /// There were more than two possible outcomes.
  void not_enumerable(std::size_t precision) { summary_.enumerable[precision] = false; }

  /// Adds an outcome to the path.
  void outcome(std::uint64_t value) {
    summary_.path = (summary_.path ^ value) * 0x9e3779b97f4a7c15 + (summary_.path >> 29);
  }

  /// Goes on from a path of another run.
  void resume(std::uint64_t path) { summary_.path = path; }

  const Decisions& summary() const { return summary_; }

 private:
  /// Of what nothing is known the distance may be no number either: 0 / 0, say, where the divisor is not sure to be 0.
  static bool uncertain(double distance, double slack) {
    return slack > 0 && (distance <= slack || slack == kUnbounded);
  }
  bool forced(std::int64_t number) const {
    const auto k = static_cast<std::size_t>(number);
    return k < forced_.flips.size() && forced_.flips[k];
  }
  void note_place() {
    constexpr std::size_t kPlaces = 8;
    if (summary_.places.size() < kPlaces) summary_.places.push_back(loc_);
  }

  const ForcedPath& forced_;
  Decisions summary_;
  ir::Loc loc_;
  bool ignores_kinks_ = false;
};

}  // namespace assay::reference
