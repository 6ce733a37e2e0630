// The judge: runs a built kernel on a device and holds it against the oracle, forward and backward.
//
// Tiers and checks are those of docs/design/numerics.md: T0 tests the oracle itself, T1 the double lift, T2 the
// generated code against its own finite differences, T3 native precision, T5 determinism, and where there is a peer
// agreement with it; besides them poison, guard bands, unmodified
// inputs, zero and doubled seeds, accumulation, several sizes and thread orders, and negative controls.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/verdict.hpp"

namespace assay::harness {

/// Another device with the same kernel, whose results must agree with those of the one that is judged.
struct Peer {
  std::string name;
  backends::Session& session;  ///< reset by the judge
  const backends::BuiltKernel& kernel;
  reference::Profile profile;
};

/// What to judge with.
struct JudgeConfiguration {
  backends::Session& session;  ///< reset by the judge
  Policy policy;
  reference::Profile profile;
  std::uint64_t seed = 0;
  bool forward = true;
  bool backward = true;
  std::chrono::milliseconds time_limit{2000};  ///< of processor time, for one launch
  const Peer* peer = nullptr;                  ///< null: none
};

struct Judgement {
  PassVerdict forward;
  PassVerdict backward;  ///< meaningful if the subject has an adjoint and the bench asks for it
  double reference_ms = 0;
  double run_ms = 0;
  double compare_ms = 0;
};

/// The inputs on which a kernel is judged, and what the oracle says of it there. They are the same for every
/// implementation of the kernel.
struct TestPlan {
  std::vector<InputSet> sets;
  std::vector<Drawn> sizes;         ///< launches of 0 and of more than 65,535 threads
  std::vector<bool> uninitialised;  ///< by parameter: the kernel writes each cell before it reads it, if it does
  ir::ParameterUses uses;
};

/// An exam, or why the kernel has no defined run.
using DrawnTestPlan = std::variant<TestPlan, NoInputs>;
/// Draws the exam that the bench's policy asks for.
DrawnTestPlan draw_test_plan(const Subject& subject, const JudgeConfiguration& bench);

/// Judges one implementation of the subject by the exam. T0, which is about the oracle alone, is left out.
Judgement judge(const TestPlan& test_plan, const Subject& subject, const backends::BuiltKernel& kernel,
                const JudgeConfiguration& bench);

/// The same with T0: all that is to be said of one kernel. What goes wrong is in the verdicts, never an exception.
Judgement judge_in_full(const DrawnTestPlan& drawn, const Subject& subject, const backends::BuiltKernel& kernel,
                        const JudgeConfiguration& bench);

/// Draws an exam and judges one kernel by it.
Judgement judge(const Subject& subject, const backends::BuiltKernel& kernel, const JudgeConfiguration& bench);

}  // namespace assay::harness
