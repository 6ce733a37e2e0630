// The judge: runs a built kernel on a device and holds it against the oracle, forward and backward.
//
// Tiers and checks are those of numerics.md: T0 tests the oracle itself, T1 the double lift, T2 the generated code
// against its own finite differences, T3 native precision, T5 determinism; besides them poison, guard bands, unmodified
// inputs, zero and doubled seeds, accumulation, several sizes and thread orders, and negative controls.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "harness/judge/input_set.hpp"
#include "harness/judge/verdict.hpp"

namespace assay::harness {

/// What to judge with.
struct Bench {
  backends::Session& session;  ///< reset by the judge
  Policy policy;
  reference::Profile profile;
  std::uint64_t seed = 0;
  bool forward = true;
  bool backward = true;
  std::chrono::milliseconds time_limit{2000};  ///< of processor time, for one launch
};

struct Judgement {
  PassVerdict forward;
  PassVerdict backward;  ///< meaningful if the subject has an adjoint and the bench asks for it
  double reference_ms = 0;
  double run_ms = 0;
  double compare_ms = 0;
};

/// Judges one kernel. What goes wrong is in the verdicts, never an exception.
Judgement judge(const Subject& subject, const backends::BuiltKernel& kernel, const Bench& bench);

}  // namespace assay::harness
