// The judge: runs a built kernel on a device and compares it with the oracle, forward and backward.
//
// docs/design/numerics.md defines the checks: oracle_self_check tests the oracle itself, f64_promotion compares the
// kernel promoted to f64 with the oracle, finite_differences compares the generated backward pass with differences of
// the generated forward pass, native_precision and determinism test the kernel's own types, and devices compares with a
// cross-check device. Further checks: poison, guard bands, unmodified inputs, zero and doubled cotangents,
// accumulation, several sizes and thread orders, and negative controls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/fixed_extents.hpp"
#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/recorded_launch.hpp"
#include "harness/judge/verdict.hpp"

namespace assay::harness {

/// Another device with the same kernel. Its results must agree with those of the judged device.
struct CrossCheckDevice {
  std::string name;                      ///< name of the device
  backends::DeviceSession& session;      ///< session on the device; reset by the judge
  const backends::BuiltKernel& kernel;   ///< the kernel, built for the device
  reference::ArithmeticProfile profile;  ///< math library and rounding of the device's code
};

/// The device, policy and passes with which kernels are judged.
struct JudgeConfiguration {
  backends::DeviceSession& session;                        ///< session on the judged device; reset by the judge
  JudgingPolicy policy;                                    ///< how thoroughly the kernel is judged
  reference::ArithmeticProfile profile;                    ///< math library and rounding of the judged code
  std::uint64_t seed = 0;                                  ///< seed of the random inputs
  bool forward = true;                                     ///< whether to judge the forward pass
  bool backward = true;                                    ///< whether to judge the backward pass
  std::chrono::milliseconds time_limit{2000};              ///< limit on the processor time of one launch
  const CrossCheckDevice* cross_check_device = nullptr;    ///< device whose results must agree; null: none
  bool derives_work_from_extents = false;                  ///< see Device::derives_work_from_extents
  bool is_repeatable = true;                               ///< see Device::is_repeatable
  bool can_run_threads_in_order = false;                   ///< see Device::can_run_threads_in_order
  bool trusts_custom_gradients = false;                    ///< whether a custom gradient may differ from the derivative
  FixedExtents fixed_extents = {};                         ///< extents of all launches; empty: chosen by the judge
  std::span<const RecordedLaunch> recorded_launches = {};  ///< launches to use as inputs; empty: inputs are drawn
  /// Whether finite differences decide which is incorrect if a gradient differs from the oracle's. Used for the code of
  /// other generators.
  bool decides_gradients_by_finite_differences = false;
  /// Whether a gradient may be any between the limits of the derivative from both sides where the kernel has no
  /// derivative, such as at 0 for abs: other generators choose another one than the oracle.
  bool accepts_subgradients = false;
  /// Whether the code with f64 promotion was generated from another text than the code in the kernel's own types: from
  /// text that Assay printed, not from the user's own. If the two differ, the verdict is that on the user's own text.
  bool promotes_other_text = false;
  /// Whether the device computes unrounded values (Device::computes_unrounded_values), which are judged, too.
  bool judges_unrounded_values = false;
  /// Device::approximate_instructions. Launches that execute any are judged also with their documented errors, if
  /// unrounded values are judged.
  std::span<const backends::ApproximateInstruction> approximate_instructions = {};
  /// Whether to compare the results also with tolerances, as is always done for foreign kernels.
  bool compares_with_tolerances = false;
  /// Whether to search for smaller inputs for which a pass still fails; they become its counterexample.
  bool finds_smaller_counterexamples = false;
};

/// The verdicts on both passes, and the time that judging took.
struct Judgment {
  PassVerdict forward;    ///< verdict on the forward pass
  PassVerdict backward;   ///< verdict on the backward pass; meaningful only if the backward pass was judged
  double oracle_ms = 0;   ///< time of the oracle, in milliseconds
  double launch_ms = 0;   ///< time of the launches, in milliseconds
  double compare_ms = 0;  ///< time of the comparisons, in milliseconds
};

/// The inputs on which a kernel is judged, with the oracle's results. They are the same for every implementation of the
/// kernel.
struct TestPlan {
  std::vector<InputSet> input_sets;                ///< the input sets
  std::vector<DrawnLaunch> extreme_size_launches;  ///< launches of 0 and of more than 65,535 threads
  std::vector<bool> is_never_read;                 ///< by parameter: whether it is an array that the kernel never reads
  ir::ParameterUses parameter_uses;                ///< how the kernel uses its parameters
  std::vector<Assumption> assumptions;             ///< what Assay assumed about the inputs
  /// If the result depends on the order of the threads: what depends on it. The expected results are those of the
  /// threads in the order of their numbers.
  std::optional<InputDrawFailure> order_dependence = std::nullopt;
};

/// A test plan, or the reason why no inputs were found for which the kernel is well defined.
using DrawnTestPlan = std::variant<TestPlan, InputDrawFailure>;
/// Draws the test plan that the configuration's policy requires.
DrawnTestPlan draw_test_plan(const KernelUnderTest& subject, const JudgeConfiguration& configuration);

/// Judges one implementation of the subject by the test plan, without oracle_self_check.
Judgment judge(const TestPlan& test_plan, const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
               const JudgeConfiguration& configuration);

/// Judges one implementation by the drawn test plan, with oracle_self_check. Failures are reported in the verdicts,
/// never as exceptions.
Judgment judge_with_oracle_check(const DrawnTestPlan& drawn, const KernelUnderTest& subject,
                                 const backends::BuiltKernel& kernel, const JudgeConfiguration& configuration);

/// Draws a test plan and judges one kernel by it.
Judgment judge(const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
               const JudgeConfiguration& configuration);

}  // namespace assay::harness
