#include "harness/judge/custom_replay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "harness/judge/gradient_difference.hpp"
#include "ir/custom.hpp"
#include "ir/source_location.hpp"
#include "reference/cpu/findings.hpp"

namespace assay::harness {
std::optional<CustomReplayCheck> CustomReplayCheck::make(const KernelUnderTest& subject) {
  if (subject.adjoint == nullptr || !ir::has_custom_replay(subject.module, subject.kernel)) return std::nullopt;
  Result<reference::Oracle> oracle =
      reference::Oracle::make(subject.module, subject.kernel, reference::CustomReplays::kExecuted);
  if (!oracle.ok()) return std::nullopt;
  return CustomReplayCheck(subject, oracle.take());
}

std::optional<std::string> CustomReplayCheck::find_change(const InputSet& set,
                                                          const reference::ArithmeticProfile& profile,
                                                          std::vector<bool> is_uninitialized) const {
  ir::Launch launch = set.launch_by_precision[Precision::kNative];
  // Warp's tape runs the forward pass first, so that no parameters are bound, but the replays find the same arrays.
  const std::vector<ir::VarId>& bound = subject_.adjoint->parameters_bound_to_final_content;
  std::set<ir::VarId> finals(bound.begin(), bound.end());
  finals.insert(subject_.adjoint->arrays_read_by_replays.begin(), subject_.adjoint->arrays_read_by_replays.end());
  for (const ir::VarId array : finals) {
    const auto p = static_cast<std::size_t>(array);
    if (p < is_uninitialized.size()) is_uninitialized[p] = false;
    if (set.reference.outputs[p])
      reference::write_final_content(subject_.module, *set.reference.outputs[p], launch.arguments[p]);
  }
  const reference::ReferenceResult replayed = oracle_.evaluate({.launch = launch,
                                                                .profile = profile,
                                                                .computes_gradient = true,
                                                                .cotangents = set.cotangents,
                                                                .uninitialized = std::move(is_uninitialized)});
  if (!replayed.findings.empty()) {
    return fmt::format("with {}, {}", text_of_replays(),
                       reference::describe(replayed.findings.front(), subject_.module, subject_.kernel));
  }
  if (replayed.decisions.uncertain_decision_counts[Precision::kPromoted] > 0 ||
      replayed.decisions.uncertain_kinks[Precision::kPromoted] > 0)
    return std::nullopt;
  const std::optional<GradientDifference> difference = find_gradient_difference(replayed, set.reference);
  if (!difference) return std::nullopt;
  return fmt::format("with {}, the gradient of {} is {}, but the derivative is {} (allowed difference {})",
                     text_of_replays(), difference->name(subject_, set), static_cast<double>(difference->first),
                     static_cast<double>(difference->second), difference->bound);
}

std::string CustomReplayCheck::text_of_replays() const {
  const auto has_replay = [](const ir::Function& function) { return function.replay_function_index != ir::kNone; };
  const auto& functions = subject_.module.functions;
  if (std::ranges::count_if(functions, has_replay) != 1) return "the replays of the kernel's functions";
  const ir::Function& function = *std::ranges::find_if(functions, has_replay);
  const ir::Function& replay = functions[static_cast<std::size_t>(function.replay_function_index)];
  return fmt::format("the replay of '{}' ({})", function.name, ir::line_text(subject_.module, replay.loc));
}

void check_custom_replays(const PassContext& pass_context) {
  const auto check = CustomReplayCheck::make(pass_context.subject);
  if (!check) return;
  for (std::size_t s = 0; s < pass_context.input_sets.size(); ++s) {
    const auto change =
        check->find_change(pass_context.input_sets[s], pass_context.configuration.profile, pass_context.is_poisoned);
    if (!change) continue;
    PassVerdict& verdict = pass_context.judgment.backward;
    const std::string message =
        fmt::format("a replay does not return what its function returned: {} (input set {})", *change, s);
    if (!pass_context.configuration.recorded_launches.empty()) {
      verdict.fail(Outcome::defect, "custom_replay", message);
    } else {
      ++verdict.inconclusive.domain_errors;
      verdict.fail(Outcome::inconclusive, "custom_replay",
                   fmt::format("{}; if such inputs are not valid, state the valid inputs of '{}' in a comment above it "
                               "(# launch: ..., # domain: ...)",
                               message, pass_context.subject.kernel.name));
    }
    return;
  }
}

}  // namespace assay::harness
