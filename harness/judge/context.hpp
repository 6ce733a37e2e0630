// The launches that judging a kernel needs, and the purpose of each. Private to the judge.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/compare/tolerances.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/launch.hpp"

namespace assay::harness {

/// Size of the few, large blocks of some launches: threads in a block, or tiles that a block processes in sequence.
inline constexpr std::int64_t kLargeBlockSize = 32;
/// Threads per block of the backward launches with many blocks. Blocks of one thread would take several times as long
/// on `ptx`, which executes at least one warp per block.
inline constexpr std::int64_t kSmallBlockSize = 5;

/// What a launch is made for.
enum class LaunchPurpose : std::uint8_t {
  kOracleComparison,      ///< comparison with the oracle
  kDifferentPoison,       ///< as kOracleComparison, but with different initial outputs; must give the same result
  kDifferentThreadOrder,  ///< as kOracleComparison, but in another thread order
  kZeroInitialGradient,   ///< backward pass whose gradients start at zero
  kRepeatability,         ///< repetition of kZeroInitialGradient; must give the same bits
  kDoubledCotangent,      ///< backward pass with twice the cotangents; must give exactly twice the gradients
  kZeroCotangent,         ///< backward pass with zero cotangents; must give exactly zero
  /// One of two launches that add to the same gradients; together they must give twice the gradient.
  kGradientAccumulation,
  /// As kOracleComparison, but with the documented errors of approximate instructions.
  kDocumentedErrors,
};

/// A launch that the judge makes, and its outcome.
struct TestLaunch {
  LaunchPurpose purpose = LaunchPurpose::kOracleComparison;  ///< what the result is used for
  /// Index of the input set in PassContext::input_sets; the number of these sets for a launch of another size.
  std::size_t input_set_index = 0;
  Precision precision = Precision::kNative;                 ///< precision variant that is launched
  KernelLauncher launcher;                                  ///< the placed arguments
  backends::RunOutcome outcome = backends::LaunchFailed{};  ///< set by run_launches
};

/// The kernel, inputs and settings that all checks of a pass share.
struct PassContext {
  const KernelUnderTest& subject;           ///< the kernel, as the oracle sees it
  const backends::BuiltKernel& kernel;      ///< the implementation that is judged
  const JudgeConfiguration& configuration;  ///< device, policy and passes
  const std::vector<InputSet>& input_sets;  ///< the input sets of the test plan
  const std::vector<bool>& is_poisoned;     ///< by parameter: whether its array holds poison before the launch
  const ir::ParameterUses& parameter_uses;  ///< how the kernel uses its parameters
  /// Whether the result depends on the order of the threads, so that forward launches run them in the order of their
  /// numbers.
  bool fixes_thread_order = false;
  std::string build_target;  ///< build target of the kernel to run; empty if the kernel has only one
  Judgment& judgment;        ///< receives the findings

  /// Whether the policy judges this precision variant, and it is built for the target.
  bool uses_precision(Precision precision) const {
    const JudgingPolicy& policy = configuration.policy;
    const bool is_judged =
        precision == Precision::kPromoted ? policy.judges_f64_promotion : policy.judges_native_precision;
    return is_judged && kernel.is_built_for(build_target, to_backend_precision(precision));
  }
  /// The settings of a forward launch that otherwise has `settings`.
  LaunchSettings forward_settings(LaunchSettings settings) const {
    if (!fixes_thread_order) return settings;
    settings.order = backends::ThreadOrder::kForward;
    settings.threads_per_block = 1;
    return settings;
  }
  /// Whether the set also gets the checks of JudgingPolicy::fully_checked_input_sets.
  bool is_fully_checked(std::size_t set) const {
    return set < static_cast<std::size_t>(configuration.policy.fully_checked_input_sets);
  }
  /// The sets, other than those that are fully checked, on which a candidate also runs in other orders of blocks. The
  /// fully checked sets are often too small for several of its blocks. Empty for generated code, whose number of
  /// threads in a block is free.
  std::vector<std::size_t> sets_for_other_block_orders() const;
  /// The set that is judged again at the addresses of the first one: the last of those for all passes with several
  /// threads, or the first if all have one thread.
  std::size_t set_to_repeat() const;
};

/// The role of each parameter of a pass's entry: the kernel's parameters, then, for the backward pass, the gradients.
/// The backward pass repeats stores to arrays that the kernel also reads, which are scratch copies there; it changes no
/// other array.
std::vector<ArrayRole> roles_of(const PassContext& pass_context, backends::Pass pass);
/// Runs the launches and stores their outcomes. If one does not complete, returns false and records the failure; if the
/// first does not complete, the others do not run.
bool run_launches(const PassContext& pass_context, std::span<TestLaunch> test_launches, PassVerdict& verdict);

/// The indices of the launches in the order in which they are checked. The first failure decides the verdict, so for
/// foreign code, the launches with the least data come first: the verdict then shows the smallest inputs that fail.
std::vector<std::size_t> checking_order(const PassContext& pass_context, std::span<const TestLaunch> test_launches);

/// The launches whose results are compared with tolerances: those on the first uniformly drawn input sets, in the
/// kernel's own types, if they completed. None unless the kernel is foreign or the configuration asks for it.
std::vector<const TestLaunch*> launches_for_tolerances(const PassContext& pass_context,
                                                       std::span<const TestLaunch> test_launches);
/// Counts an input set on which the arrays of a launch were compared with kComparedTolerances; `accepts` has one
/// element for each tolerance.
void count_tolerances(PassVerdict& verdict, const std::array<bool, kComparedTolerances.size()>& accepts);
/// The set's launch for the backward pass. Runs the forward pass to fill
/// AdjointModule::parameters_bound_to_final_content. If that launch does not complete, returns nullopt and records the
/// failure.
std::optional<ir::Launch> make_backward_launch(const PassContext& pass_context, std::size_t set, Precision precision,
                                               PassVerdict& verdict);
/// By gradient parameter: whether its buffer is compared with the oracle. Code that derives its work from extents
/// leaves the cotangents in place, so the buffers that hold them are not compared.
std::vector<bool> compared_gradients(const PassContext& pass_context);
/// Checks guard bands and read-only arrays.
void check_memory(const PassContext& pass_context, const TestLaunch& test_launch, PassVerdict& verdict);
/// Records the failed positions as mismatches, and the case as failed.
void report_mismatches(const PassContext& pass_context, NamedCheck named_check, const TestLaunch& test_launch,
                       const std::string& array, const ir::Argument& layout, std::span<const ComputedScalar> got,
                       std::span<const ExpectedScalar> expected, const ComparisonResult& comparison,
                       PassVerdict& verdict);

void judge_forward(const PassContext& pass_context);
void judge_backward(const PassContext& pass_context);
/// Compares the pass's results with those of JudgeConfiguration::cross_check_device, unless the pass has failed.
void judge_agreement(const PassContext& pass_context, backends::Pass pass);
/// oracle_self_check: compares the oracle's reverse sweep with its dual numbers, and these with finite differences.
void test_oracle(const PassContext& pass_context);
/// custom_gradient: compares the custom gradients of the kernel's functions with their derivatives, unless they are
/// trusted.
void check_custom_gradients(const PassContext& pass_context);
/// custom_replay: decides the verdict of the backward pass if, on an input set, a replay does not return what its
/// function returned: a defect for recorded launches; inconclusive for drawn inputs, which the author of the kernel may
/// have excluded.
void check_custom_replays(const PassContext& pass_context);
/// finite_differences: compares differences of the generated forward pass with the generated backward pass.
void judge_consistency(const PassContext& pass_context);
/// Decides by finite differences whether a backward pass that differs from the oracle is incorrect, and makes that the
/// kind of its failure: wrong_gradient, rounding (correct with f64 promotion), oracle_wrong or undecided. Does nothing
/// if the backward pass did not fail a comparison, or if the forward pass failed.
void decide_by_finite_differences(const PassContext& pass_context);
/// Whether f64 promotion shows a difference of a gradient from the oracle that the kernel's own types would show as
/// well, but do not: the scalars with the largest differences differ by more than the bound in the kernel's own types,
/// and are within it there. The two variants then have different gradients.
bool is_difference_of_promotion_only(const PassContext& pass_context);
/// Judges the launches of draw_sizes: 0 threads, and more than 65,535.
void judge_forward_sizes(const PassContext& pass_context, const std::vector<DrawnLaunch>& launches);
void judge_backward_sizes(const PassContext& pass_context, const std::vector<DrawnLaunch>& launches);
/// The launches of extreme sizes.
struct ExtremeSizes {
  std::vector<DrawnLaunch> launches;     ///< launches for which the kernel is well defined
  std::optional<Assumption> assumption;  ///< set if the kernel is not well defined for a large launch
};
ExtremeSizes draw_sizes(const InputSpace& input_space, const JudgeConfiguration& configuration);

}  // namespace assay::harness
