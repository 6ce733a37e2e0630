#include "harness/judge/approximations.hpp"

#include <cstring>
#include <utility>

namespace assay::harness {
namespace {

std::vector<backends::ApproximateInstruction> members(const PassContext& pass_context, std::uint32_t instructions) {
  const auto all = pass_context.configuration.approximate_instructions;
  std::vector<backends::ApproximateInstruction> found;
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((instructions >> i & 1U) != 0) found.push_back(all[i]);
  return found;
}

/// Multiplies the part of each bound of a gradient that is due to approximations.
void widen_gradients(const reference::ReferenceResult& without_approximations, reference::ReferenceResult& result) {
  for (std::size_t p = 0; p < result.gradients.size(); ++p) {
    const auto& exact = without_approximations.gradients[p];
    auto& gradient = result.gradients[p];
    if (!gradient || !exact || exact->elements.size() != gradient->elements.size()) continue;
    for (std::size_t k = 0; k < gradient->elements.size(); ++k) {
      double& bound = gradient->elements[k].bound[Precision::kNative];
      const double added = bound - exact->elements[k].bound[Precision::kNative];
      if (added > 0) bound += (kUsesOfApproximateResultInGradient - 1) * added;
    }
  }
}

}  // namespace

std::map<std::size_t, std::uint32_t> executed_approximations(const PassContext& pass_context,
                                                             std::span<const TestLaunch> test_launches) {
  std::map<std::size_t, std::uint32_t> by_set;
  if (pass_context.configuration.approximate_instructions.empty()) return by_set;
  for (const TestLaunch& test_launch : test_launches) {
    for (std::size_t a = 0; a < test_launch.launcher.arrays().size(); ++a) {
      const auto bytes = test_launch.launcher.unrounded_bytes(pass_context.configuration.session, a);
      backends::UnroundedArrayHeader header;
      if (bytes.size() < sizeof(header)) continue;
      std::memcpy(&header, bytes.data(), sizeof(header));
      // The memory is NaN if the device wrote nothing.
      if (header.approximate_instructions > 0)
        by_set[test_launch.input_set_index] |= static_cast<std::uint32_t>(header.approximate_instructions);
    }
  }
  return by_set;
}

const reference::ReferenceResult* ApproximateReferences::of(std::size_t input_set_index) {
  const InputSet& set = pass_context_.input_sets[input_set_index];
  if (set.references(Precision::kNative).size() != 1) return nullptr;
  const auto [found, is_new] = results_.try_emplace(input_set_index);
  if (is_new) {
    reference::ArithmeticProfile profile = pass_context_.configuration.profile;
    profile.has_approximate_operations = true;
    // In half precision, rounding errors are greater than those of approximations that are nearly accurate.
    if (profile.input_error.least_significant_bits >= ir::row(ir::Scalar::kF32).significant_bits)
      profile.input_error.unit_roundoffs += kApproximationErrorInUnitRoundoffs;
    const reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative],
                                   .profile = profile,
                                   .computes_gradient = computes_gradient_,
                                   .cotangents = set.cotangents,
                                   .initial_gradients = set.initial_gradients,
                                   .uninitialized = pass_context_.is_poisoned,
                                   .instruction_budget = set.request.instruction_budget};
    found->second = pass_context_.subject.oracle.evaluate(run);
    if (computes_gradient_) widen_gradients(*set.references(Precision::kNative).front(), found->second);
  }
  const reference::DecisionSummary& decisions = found->second.decisions;
  const bool is_certain = decisions.uncertain_decision_counts[Precision::kNative] == 0 &&
                          (!computes_gradient_ || decisions.uncertain_kinks[Precision::kNative] == 0);
  return found->second.is_complete && is_certain ? &found->second : nullptr;
}

void judge_documented_errors(const PassContext& pass_context,
                             const std::map<std::size_t, std::uint32_t>& instructions_by_set,
                             const DocumentedErrorSteps& steps, std::vector<TestLaunch>& test_launches,
                             PassVerdict& verdict) {
  pass_context.configuration.session.reset();
  test_launches.clear();
  for (const auto& [set, instructions] : instructions_by_set) {
    std::optional<TestLaunch> placed = steps.place(set, instructions, verdict);
    if (verdict.failed()) return;
    if (placed) test_launches.push_back(std::move(*placed));
  }
  run_launches(pass_context, test_launches, verdict);
  std::optional<std::size_t> failed_set;
  if (verdict.failed()) failed_set = verdict.counterexample->input_set_index;
  for (const std::size_t t : checking_order(pass_context, test_launches)) {
    if (verdict.failed()) break;
    check_memory(pass_context, test_launches[t], verdict);
    steps.check(t);
    if (verdict.failed()) failed_set = test_launches[t].input_set_index;
  }
  if (!failed_set) return;
  const auto fails_with = [&](std::uint32_t instructions) {
    PassVerdict ignored;
    std::optional<TestLaunch> repeated = steps.place(*failed_set, instructions, ignored);
    return repeated && (!run_launches(pass_context, {&*repeated, 1}, ignored) || !steps.agrees(*repeated));
  };
  const std::uint32_t executed = instructions_by_set.at(*failed_set);
  std::uint32_t causes = 0;
  for (std::uint32_t left = executed; left != 0; left &= left - 1)
    if (const std::uint32_t one = left & -left; one == executed || fails_with(one)) causes |= one;
  verdict.attribute_failure_to_approximations(members(pass_context, causes == 0 ? executed : causes));
}

}  // namespace assay::harness
