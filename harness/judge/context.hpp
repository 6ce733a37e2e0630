// The launches that judging a kernel takes, and what each is for. Private to the judge.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/judge/launch.hpp"

namespace assay::harness {

enum class Purpose : std::uint8_t {
  kCheck,        ///< compared with the oracle
  kOtherPoison,  ///< as kCheck with outputs filled differently: must agree with it
  kOrder,        ///< another order of threads
  kFromZero,     ///< gradients from zero
  kAgain,        ///< the same again: must agree bit for bit
  kDoubledSeed,  ///< must give twice kFromZero, bit for bit
  kZeroSeed,     ///< must give exactly zero
  kTwice,        ///< added to the gradients of kFromZero of its own: must give twice
};

struct JudgeContext {
  Purpose purpose = Purpose::kCheck;
  std::size_t set = 0;
  Precision precision = Precision::kNative;
  KernelLauncher launcher;
  backends::RunOutcome outcome = backends::LaunchFailed{};
};

/// What the two passes' judges share.
struct PassContext {
  const Subject& subject;
  const backends::BuiltKernel& kernel;
  const JudgeConfiguration& bench;
  const std::vector<InputSet>& sets;
  const std::vector<bool>& poisoned;  ///< by parameter, as TestPlan::uninitialised
  const ir::ParameterUses& uses;
  std::string target;  ///< of the kernel, that launches run; empty where it has only one
  Judgement& judgement;

  bool takes(Precision precision) const {
    return precision == Precision::kPromoted ? bench.policy.f64_promotion : bench.policy.native_precision;
  }
  bool is_deep(std::size_t set) const { return set < static_cast<std::size_t>(bench.policy.deep_sets); }
};

/// What each parameter of a pass's entry is to it: the kernel's, then for the backward pass the gradients. Backward
/// repeats stores to arrays that the kernel also reads, in the scratch copy that they are there; it changes no other.
std::vector<Role> roles_of(const PassContext& pass_context, backends::Pass pass);
/// Runs the trials and notes their outcomes. False, and a verdict, if one did not complete; if that is the first, the
/// rest did not run.
bool run_trials(const PassContext& pass_context, std::span<JudgeContext> trials, PassVerdict& verdict);
/// The set's launch for the backward pass: Adjoint::final_arrays hold what a forward launch, run here, leaves in them.
/// Nothing, and a verdict, if that launch does not complete.
std::optional<ir::Launch> backward_launch(const PassContext& pass_context, std::size_t set, Precision precision,
                                          PassVerdict& verdict);
/// Guard bands, and arrays that must not change.
void check_memory(const PassContext& pass_context, const JudgeContext& context, PassVerdict& verdict);
/// Notes the positions that failed as mismatches and the case as failed.
void report_mismatches(const PassContext& pass_context, Tier tier, const JudgeContext& context,
                       const std::string& array, const ir::Argument& layout, std::span<const Computed> got,
                       std::span<const Expected> expected, const Comparison& comparison, PassVerdict& verdict);

void judge_forward(const PassContext& pass_context);
void judge_backward(const PassContext& pass_context);
/// The pass's results against those of JudgeConfiguration::peer, unless it has failed.
void judge_agreement(const PassContext& pass_context, backends::Pass pass);
/// T0: the oracle's sweep against its dual numbers, and these against finite differences.
void test_oracle(const PassContext& pass_context);
/// T2: finite differences of the generated forward against the generated backward.
void judge_consistency(const PassContext& pass_context);
/// Launches of 0 and of more than 65,535 threads, as draw_sizes found them.
void judge_forward_sizes(const PassContext& pass_context, const std::vector<Drawn>& launches);
void judge_backward_sizes(const PassContext& pass_context, const std::vector<Drawn>& launches);
std::vector<Drawn> draw_sizes(InputSpace& space, const JudgeConfiguration& bench);

}  // namespace assay::harness
