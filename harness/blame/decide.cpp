#include "harness/blame/decide.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::blame {

using harness::CaseRecord;
using harness::FailureOrigin;
using harness::Outcome;
using Role = backends::BuildVariant::Role;

namespace {

bool passes(const BuildVariantResult& vote) { return harness::is_pass(vote.outcome); }

bool fails(const BuildVariantResult& vote) {
  return vote.outcome == Outcome::fail || vote.outcome == Outcome::crashed || vote.outcome == Outcome::timed_out ||
         vote.outcome == Outcome::memory_fault;
}

using Condition = std::function<bool(const BuildVariantResult&)>;

std::vector<BuildVariantResult> those(std::span<const BuildVariantResult> votes, const Condition& wanted) {
  std::vector<BuildVariantResult> result;
  std::ranges::copy_if(votes, std::back_inserter(result), wanted);
  return result;
}

/// Whether at least one vote passes and none fails.
bool all_pass(const std::vector<BuildVariantResult>& votes) {
  return std::ranges::any_of(votes, passes) && std::ranges::none_of(votes, fails);
}

/// Whether at least one vote fails and none passes.
bool all_fail(const std::vector<BuildVariantResult>& votes) {
  return std::ranges::any_of(votes, fails) && std::ranges::none_of(votes, passes);
}

std::string name_of(const BuildVariantResult& vote) {
  return vote.target.empty() ? vote.compiler : fmt::format("{} {}", vote.compiler, vote.target);
}

std::string_view text_of(Role role) {
  switch (role) {
    case Role::kSameFlags: return "compiler flags of the failing case";
    case Role::kUnoptimized: return "unoptimized";
    case Role::kTrapOnUndefinedBehavior: return "unoptimized, stopping at undefined behavior";
    case Role::kOtherCompiler: return "compiler flags of the failing case";
  }
  return "";
}

FailureOrigin with(std::string culprit, std::string reason) {
  return {.responsible_component = std::move(culprit), .reason = std::move(reason), .examined_builds = {}};
}

/// A build that fails although its text passes without optimizations.
std::optional<FailureOrigin> compiler_blame(const std::vector<BuildVariantResult>& own) {
  for (const BuildVariantResult& failing : own) {
    if (failing.role != Role::kSameFlags || !fails(failing)) continue;
    const auto unoptimized = std::ranges::find_if(own, [&](const BuildVariantResult& vote) {
      return vote.role == Role::kUnoptimized && vote.compiler == failing.compiler && vote.target == failing.target;
    });
    if (unoptimized != own.end() && passes(*unoptimized))
      return with(fmt::format("compiler({})", name_of(failing)), "without optimizations, the same source passes");
  }
  return std::nullopt;
}

/// Whether the C++ of the kernel crashes only if undefined behavior stops it.
bool has_undefined_behavior(std::span<const BuildVariantResult> votes) {
  const auto crashes = [&](Role role) {
    return std::ranges::any_of(votes, [&](const BuildVariantResult& vote) {
      return vote.role == role && vote.target.empty() && vote.outcome == Outcome::crashed;
    });
  };
  return crashes(Role::kTrapOnUndefinedBehavior) && !crashes(Role::kUnoptimized);
}

/// Every unoptimized build of the failing device fails. The emitter or the oracle is wrong only if the other device,
/// which executes another source, fails as well.
FailureOrigin text_blame(const CaseRecord& failing, std::span<const BuildVariantResult> votes) {
  const std::vector<BuildVariantResult> others = those(votes, [&](const BuildVariantResult& vote) {
    return vote.device != failing.device && !vote.is_from_other_generator && vote.role == Role::kUnoptimized;
  });
  if (all_pass(others))
    return with("undetermined", "only this device fails, so either its source or its execution is incorrect");
  if (!all_fail(others))
    return with("undetermined", "the results of the other device do not show whether this device is at fault");
  const auto own_says = [&](std::string_view kind) {
    return std::ranges::any_of(votes, [&](const BuildVariantResult& vote) {
      return vote.device == failing.device && vote.role == Role::kUnoptimized && vote.outcome_detail == kind;
    });
  };
  if (own_says("wrong_gradient") || failing.outcome_detail == "finite_differences")
    return with("emitter", "the emitted gradient contradicts finite differences of the emitted forward pass");
  if (own_says("oracle_wrong"))
    return with("oracle", "the emitted gradient agrees with finite differences of the emitted forward pass");
  const std::vector<BuildVariantResult> generators =
      those(votes, [](const BuildVariantResult& vote) { return vote.is_from_other_generator; });
  if (all_pass(generators))
    return with("emitter", "every build fails, and the code of another generator agrees with the oracle");
  if (all_fail(generators)) return with("oracle", "every build fails, and so does the code of another generator");
  return with("undetermined",
              "every build fails, and no other generated code shows whether the emitter or the oracle is at fault");
}

FailureOrigin culprit_of(const CaseRecord& failing, std::span<const BuildVariantResult> votes,
                         const ExecutionEvidence& execution) {
  if (has_undefined_behavior(votes)) return with("kernel", "the C++ of the kernel has undefined behavior");
  const std::vector<BuildVariantResult> own =
      those(votes, [&](const BuildVariantResult& vote) { return vote.device == failing.device; });
  if (std::ranges::none_of(own,
                           [](const BuildVariantResult& vote) { return vote.role == Role::kSameFlags && fails(vote); }))
    return with("undetermined", "the failure does not occur if the case is judged alone");
  if (!execution.incorrect_instructions.empty())
    return with("interpreter", fmt::format("an instruction does not compute what PTX defines: {}",
                                           execution.incorrect_instructions.front()));
  if (std::optional<FailureOrigin> compiler = compiler_blame(own)) {
    if (execution.unchecked_instructions.empty()) return *compiler;
    return with("undetermined",
                fmt::format("no independent model checks the results of {}, which only failing builds execute",
                            fmt::join(execution.unchecked_instructions, ", ")));
  }
  if (!all_fail(those(own, [](const BuildVariantResult& vote) { return vote.role == Role::kUnoptimized; })))
    return with("undetermined", "the unoptimized builds do not show whether the emitted source is incorrect");
  return text_blame(failing, votes);
}

}  // namespace

FailureOrigin decide_blame(const CaseRecord& failing, std::span<const BuildVariantResult> votes,
                           const ExecutionEvidence& execution) {
  FailureOrigin blame = culprit_of(failing, votes, execution);
  for (const BuildVariantResult& vote : votes) {
    const std::string kind =
        vote.outcome_detail.empty() || passes(vote) ? "" : fmt::format("({})", vote.outcome_detail);
    blame.examined_builds.push_back({.device = vote.device,
                                     .build = vote.is_from_other_generator
                                                  ? vote.compiler
                                                  : fmt::format("{}, {}", name_of(vote), text_of(vote.role)),
                                     .result = std::string(to_text(vote.outcome)) + kind});
  }
  return blame;
}

}  // namespace assay::blame
