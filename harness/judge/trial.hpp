// The launches that judging a kernel takes, and what each is for. Private to the judge.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/experiment.hpp"
#include "harness/judge/judge.hpp"

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

struct Trial {
  Purpose purpose = Purpose::kCheck;
  std::size_t set = 0;
  Lane lane = Lane::kNative;
  Experiment experiment;
  backends::RunOutcome outcome = backends::LaunchFailed{};
};

/// What the two passes' judges share.
struct Stage {
  const Subject& subject;
  const backends::BuiltKernel& kernel;
  const Bench& bench;
  const std::vector<InputSet>& sets;
  const std::vector<bool>& poisoned;  ///< by parameter, as Exam::uninitialised
  const ir::ParameterUses& uses;
  std::string target;  ///< of the kernel, that launches run; empty where it has only one
  Judgement& judgement;

  bool takes(Lane lane) const { return lane == Lane::kLift ? bench.policy.lift_lane : bench.policy.native_lane; }
  bool is_deep(std::size_t set) const { return set < static_cast<std::size_t>(bench.policy.deep_sets); }
};

/// What each parameter of a pass's entry is to it: the kernel's, then for the backward pass the gradients. Backward
/// repeats stores to arrays that the kernel also reads, in the scratch copy that they are there; it changes no other.
std::vector<Role> roles_of(const Stage& stage, backends::Pass pass);
/// Runs the trials and notes their outcomes. False, and a verdict, if one did not complete; if that is the first, the
/// rest did not run.
bool run_trials(const Stage& stage, std::span<Trial> trials, PassVerdict& verdict);
/// The set's launch for the backward pass: Adjoint::final_arrays hold what a forward launch, run here, leaves in them.
/// Nothing, and a verdict, if that launch does not complete.
std::optional<ir::Launch> backward_launch(const Stage& stage, std::size_t set, Lane lane, PassVerdict& verdict);
/// Guard bands, and arrays that must not change.
void check_memory(const Stage& stage, const Trial& trial, PassVerdict& verdict);
/// Notes the positions that failed as mismatches and the case as failed.
void report_mismatches(const Stage& stage, Tier tier, const Trial& trial, const std::string& array,
                       const ir::Argument& layout, std::span<const Computed> got, std::span<const Expected> expected,
                       const Comparison& comparison, PassVerdict& verdict);

void judge_forward(const Stage& stage);
void judge_backward(const Stage& stage);
/// The pass's results against those of Bench::peer, unless it has failed.
void judge_agreement(const Stage& stage, backends::Pass pass);
/// T0: the oracle's sweep against its dual numbers, and these against finite differences.
void test_oracle(const Stage& stage);
/// T2: finite differences of the generated forward against the generated backward.
void judge_consistency(const Stage& stage);
/// Launches of 0 and of more than 65,535 threads, as draw_sizes found them.
void judge_forward_sizes(const Stage& stage, const std::vector<Drawn>& launches);
void judge_backward_sizes(const Stage& stage, const std::vector<Drawn>& launches);
std::vector<Drawn> draw_sizes(InputSpace& space, const Bench& bench);

}  // namespace assay::harness
