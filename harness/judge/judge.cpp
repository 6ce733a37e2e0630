#include "harness/judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "harness/judge/candidate_sets.hpp"
#include "harness/judge/context.hpp"
#include "harness/judge/draw_sets.hpp"
#include "harness/judge/recorded_sets.hpp"
#include "harness/judge/smaller_inputs.hpp"
#include "ir/source_location.hpp"

namespace assay::harness {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

/// The kind in the record of a defect or an inconclusive outcome.
const char* kind_of(InputDrawFailure::Reason reason) {
  using Reason = InputDrawFailure::Reason;
  switch (reason) {
    case Reason::kNoDomain: return "domain";
    case Reason::kDifferentThreadOrder:
    case Reason::kRace: return "race";
    case Reason::kOutOfBounds: return "out_of_bounds";
    case Reason::kUninitialized: return "uninitialized";
  }
  return "domain";
}

bool involves_two_threads(const InputDrawFailure& none) {
  return none.reason == InputDrawFailure::Reason::kRace ||
         none.reason == InputDrawFailure::Reason::kDifferentThreadOrder;
}

harness::DefectRecord finding_of(const InputDrawFailure& none, const KernelUnderTest& subject) {
  const ir::SourceLocation location = ir::source_location(subject.module, none.finding->loc);
  DefectRecord finding{.line = location.loc.line, .faulty_access = none.message, .threads = {}};
  if (location.file != subject.module.source_name) finding.file = location.file;
  finding.threads.push_back(std::to_string(none.finding->thread));
  if (involves_two_threads(none)) finding.threads.push_back(std::to_string(none.finding->earlier_thread));
  return finding;
}

void note_no_inputs(PassVerdict& verdict, const InputDrawFailure& none, const KernelUnderTest& subject) {
  if (none.finding) verdict.finding = finding_of(none, subject);
  if (none.is_defect()) {
    verdict.fail(Outcome::defect, kind_of(none.reason), none.message);
    return;
  }
  const bool race = involves_two_threads(none);
  (race ? verdict.inconclusive.races : verdict.inconclusive.domain_errors) += 1;
  if (none.is_for_recorded_launch) return verdict.fail(Outcome::inconclusive, kind_of(none.reason), none.message);
  verdict.fail(Outcome::inconclusive, kind_of(none.reason),
               fmt::format("{}; state the valid inputs of '{}' in a comment above it ({}# domain: ...)", none.message,
                           subject.kernel.name, race ? "# launch: (1) for a single thread, or " : "# launch: ..., "));
}

PassContext pass_context_of(const TestPlan& test_plan, const KernelUnderTest& subject,
                            const backends::BuiltKernel& kernel, const JudgeConfiguration& configuration,
                            Judgment& judgment) {
  return {.subject = subject,
          .kernel = kernel,
          .configuration = configuration,
          .input_sets = test_plan.input_sets,
          .is_poisoned = test_plan.is_never_read,
          .parameter_uses = test_plan.parameter_uses,
          .fixes_thread_order = test_plan.order_dependence.has_value(),
          .build_target = {},
          .judgment = judgment};
}

/// What draws assumed, for the record.
std::vector<Assumption> to_assumptions(std::vector<InputAssumption> found) {
  std::vector<Assumption> assumptions;
  for (InputAssumption& assumption : found)
    assumptions.push_back(
        {.description = std::move(assumption.description), .domain_comment = std::move(assumption.domain_comment)});
  return assumptions;
}

/// Judges both passes on the context's target. A pass that failed on an earlier target is already decided.
void judge_target(const PassContext& pass_context, const std::vector<DrawnLaunch>& sizes) {
  const JudgeConfiguration& configuration = pass_context.configuration;
  const Judgment& judgment = pass_context.judgment;
  if (configuration.forward && !judgment.forward.failed()) {
    configuration.session.reset();
    judge_forward(pass_context);
    if (!judgment.forward.failed() && pass_context.uses_precision(Precision::kNative))
      judge_forward_sizes(pass_context, sizes);
  }
  if (configuration.backward && pass_context.subject.adjoint != nullptr && !judgment.backward.failed()) {
    configuration.session.reset();
    judge_backward(pass_context);
    configuration.session.reset();
    if (!judgment.backward.failed() && pass_context.uses_precision(Precision::kPromoted))
      judge_consistency(pass_context);
    if (!judgment.backward.failed() && pass_context.uses_precision(Precision::kNative))
      judge_backward_sizes(pass_context, sizes);
  }
}

/// Compares both passes with the cross-check device.
void judge_against_cross_check_device(const PassContext& pass_context) {
  const JudgeConfiguration& configuration = pass_context.configuration;
  if (configuration.cross_check_device == nullptr || pass_context.fixes_thread_order) return;
  if (configuration.forward) judge_agreement(pass_context, backends::Pass::kForward);
  if (configuration.backward && pass_context.subject.adjoint != nullptr)
    judge_agreement(pass_context, backends::Pass::kBackward);
}

/// Failures without a single failing launch, such as a comparison of two, get the first input set as counterexample.
void counterexample_by_inputs(const PassContext& pass_context, PassVerdict& verdict) {
  if (!verdict.failed() || verdict.counterexample || pass_context.input_sets.empty()) return;
  const ir::Launch& launch = pass_context.input_sets.front().launch_by_precision[Precision::kNative];
  verdict.counterexample.emplace();
  verdict.counterexample->threads = launch.threads();
  for (std::size_t p = 0; p < launch.arguments.size(); ++p)
    verdict.counterexample->launch_arguments.push_back(
        {.name = pass_context.subject.kernel.variables[p].name, .content = launch.arguments[p]});
}

/// Replaces the counterexamples of passes that failed by those for smaller inputs.
void find_smaller_counterexamples(const TestPlan& test_plan, const KernelUnderTest& subject,
                                  const backends::BuiltKernel& kernel, const JudgeConfiguration& configuration,
                                  Judgment& judgment) {
  if (!configuration.recorded_launches.empty() || !configuration.fixed_extents.launch.empty() ||
      !configuration.fixed_extents.shapes.empty())
    return;
  for (const backends::Pass pass : {backends::Pass::kForward, backends::Pass::kBackward}) {
    PassVerdict& verdict = pass == backends::Pass::kForward ? judgment.forward : judgment.backward;
    if (!verdict.failed() || !verdict.counterexample ||
        verdict.counterexample->input_set_index >= test_plan.input_sets.size())
      continue;
    const DrawRequest& request = test_plan.input_sets[verdict.counterexample->input_set_index].request;
    auto smaller = find_smaller_counterexample(subject, kernel, configuration, pass, verdict, request);
    if (smaller) verdict.counterexample = std::move(smaller);
  }
}

}  // namespace

DrawnTestPlan draw_test_plan(const KernelUnderTest& subject, const JudgeConfiguration& configuration) {
  Result<InputSpace> space =
      InputSpace::make(subject.module, subject.kernel, subject.oracle,
                       configuration.derives_work_from_extents ? ArrayExtents::kExact : ArrayExtents::kSufficient);
  if (!space.ok()) return InputDrawFailure{.message = space.error().text(), .finding = {}};
  if (const Result<void> fixed =
          space->fix_extents(configuration.fixed_extents.launch, configuration.fixed_extents.shapes);
      !fixed.ok())
    return InputDrawFailure{.message = fixed.error().text(), .finding = {}};
  std::vector<RecordedLaunch> launches(configuration.recorded_launches.begin(), configuration.recorded_launches.end());
  // The oracle evaluates a sample of a large launch, as for a recorded one.
  if (auto large = space->large_fixed_launch(configuration.seed); large && launches.empty())
    launches.push_back({.file_name = "of the extents in the contract", .launch = *std::move(large)});
  if (!launches.empty()) {
    const auto make = [&] {
      return make_recorded_sets(subject, space.value(), launches, configuration.policy, configuration.profile,
                                configuration.seed);
    };
    auto recorded = make();
    if (auto* none = std::get_if<InputDrawFailure>(&recorded);
        none != nullptr && none->is_order_dependence() && !is_candidate(configuration.profile)) {
      space->fix_thread_order(std::move(*none));
      recorded = make();
    }
    if (auto* none = std::get_if<InputDrawFailure>(&recorded)) return std::move(*none);
    auto& [sets, large] = std::get<RecordedSets>(recorded);
    return TestPlan{.input_sets = std::move(sets),
                    .extreme_size_launches = std::move(large),
                    .is_never_read = space.value().uninitialized(),
                    .parameter_uses = space.value().parameter_uses(),
                    .assumptions = to_assumptions(space.value().assumptions()),
                    .order_dependence = space->order_dependence()};
  }
  auto drawn = draw_input_sets(subject, space.value(), configuration.policy, configuration.profile, configuration.seed);
  if (auto* none = std::get_if<InputDrawFailure>(&drawn)) return std::move(*none);
  // Before the extreme sizes are drawn, whose assumptions the input sets do not share.
  std::vector<Assumption> assumptions = to_assumptions(space.value().assumptions());
  if (!is_candidate(configuration.profile))
    std::ranges::move(to_assumptions(space->longer_arrays(configuration.seed)), std::back_inserter(assumptions));
  ExtremeSizes sizes = draw_sizes(space.value(), configuration);
  if (sizes.assumption) assumptions.push_back(*std::move(sizes.assumption));
  return TestPlan{.input_sets = std::get<std::vector<InputSet>>(std::move(drawn)),
                  .extreme_size_launches = std::move(sizes.launches),
                  .is_never_read = space.value().uninitialized(),
                  .parameter_uses = space.value().parameter_uses(),
                  .assumptions = std::move(assumptions),
                  .order_dependence = space->order_dependence()};
}

namespace {

/// Judges the precision variants that the policy names.
Judgment judge_variants(const TestPlan& test_plan, const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
                        const JudgeConfiguration& configuration) {
  Judgment judgment;
  judgment.forward.has_outputs = std::ranges::any_of(test_plan.parameter_uses, &ir::ParameterUse::changed);
  judgment.forward.assumptions = judgment.backward.assumptions = test_plan.assumptions;
  PassContext pass_context = pass_context_of(test_plan, subject, kernel, configuration, judgment);
  {
    const Stopwatch watch(judgment.compare_ms);
    if (configuration.backward) check_custom_replays(pass_context);
    bool arbitrated = false;
    for (const std::string& target :
         kernel.target_architectures.empty() ? std::vector<std::string>{""} : kernel.target_architectures) {
      pass_context.build_target = judgment.forward.target = judgment.backward.target = target;
      judge_target(pass_context, test_plan.extreme_size_launches);
      judge_against_cross_check_device(pass_context);
      if (configuration.decides_gradients_by_finite_differences && configuration.backward &&
          pass_context.subject.adjoint != nullptr && !arbitrated && judgment.backward.failed()) {
        arbitrated = true;
        decide_by_finite_differences(pass_context);
      }
    }
    judgment.forward.target = judgment.backward.target = "";
  }
  judgment.compare_ms -= judgment.launch_ms;
  counterexample_by_inputs(pass_context, judgment.forward);
  counterexample_by_inputs(pass_context, judgment.backward);
  configuration.session.reset();
  return judgment;
}

/// Whether a pass failed a comparison, and not by a fault of a launch.
bool failed_comparison(const PassVerdict& verdict) { return verdict.decide().outcome == Outcome::fail; }

/// States that only the promoted text differs from the oracle, by too little to be seen in the kernel's own types.
void note_promoted_text(PassVerdict& verdict) {
  const PassVerdict::Decision decision = verdict.decide();
  verdict.reclassify_failure(decision.outcome_detail,
                             decision.message +
                                 "; f64 promotion uses text that Assay printed, and the kernel's own text is correct "
                                 "within the bound of its types");
}

/// If a pass failed with the promoted text that Assay printed, lets the user's own text decide: judges it alone. A
/// difference that is too small to be seen in the kernel's own types remains a failure.
Judgment prefer_own_text(Judgment both, const TestPlan& test_plan, const KernelUnderTest& subject,
                         const backends::BuiltKernel& kernel, const JudgeConfiguration& configuration) {
  JudgeConfiguration alone = configuration;
  alone.policy.judges_f64_promotion = false;
  Judgment own = judge_variants(test_plan, subject, kernel, alone);
  own.launch_ms += both.launch_ms;
  own.compare_ms += both.compare_ms;
  const auto is_unseen = [&](const PassVerdict& promoted, const PassVerdict& verdict) {
    return failed_comparison(promoted) && !verdict.failed();
  };
  if (!both.forward.failed()) {
    own.forward = std::move(both.forward);
  } else if (is_unseen(both.forward, own.forward)) {
    own.forward = std::move(both.forward);
    note_promoted_text(own.forward);
  }
  if (!both.backward.failed()) {
    own.backward = std::move(both.backward);
  } else if (is_unseen(both.backward, own.backward)) {
    const PassContext pass_context = pass_context_of(test_plan, subject, kernel, configuration, own);
    if (!is_difference_of_promotion_only(pass_context)) {
      own.backward = std::move(both.backward);
      note_promoted_text(own.backward);
    }
    configuration.session.reset();
  }
  return own;
}

}  // namespace

Judgment judge(const TestPlan& test_plan, const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
               const JudgeConfiguration& configuration) {
  Judgment judgment = judge_variants(test_plan, subject, kernel, configuration);
  const bool has_failed = judgment.forward.failed() || judgment.backward.failed();
  if (!has_failed || !configuration.promotes_other_text || !configuration.policy.judges_f64_promotion) return judgment;
  return prefer_own_text(std::move(judgment), test_plan, subject, kernel, configuration);
}

Judgment judge_with_oracle_check(const DrawnTestPlan& drawn, const KernelUnderTest& subject,
                                 const backends::BuiltKernel& kernel, const JudgeConfiguration& configuration) {
  const auto* const plan = std::get_if<TestPlan>(&drawn);
  const InputDrawFailure* const none = plan == nullptr ? &std::get<InputDrawFailure>(drawn)
                                       : plan->order_dependence && !configuration.can_run_threads_in_order
                                           ? &*plan->order_dependence
                                           : nullptr;
  if (none != nullptr) {
    Judgment judgment;
    note_no_inputs(judgment.forward, *none, subject);
    note_no_inputs(judgment.backward, *none, subject);
    return judgment;
  }
  const TestPlan& test_plan = *plan;
  Judgment judgment = judge(test_plan, subject, kernel, configuration);
  if (configuration.backward && subject.adjoint != nullptr) {
    const Stopwatch watch(judgment.oracle_ms);
    const PassContext pass_context = pass_context_of(test_plan, subject, kernel, configuration, judgment);
    test_oracle(pass_context);
    check_custom_gradients(pass_context);
    counterexample_by_inputs(pass_context, judgment.backward);
  }
  if (configuration.finds_smaller_counterexamples)
    find_smaller_counterexamples(test_plan, subject, kernel, configuration, judgment);
  return judgment;
}

Judgment judge(const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
               const JudgeConfiguration& configuration) {
  double drawing_ms = 0;
  DrawnTestPlan drawn;
  {
    const Stopwatch watch(drawing_ms);
    drawn = draw_test_plan(subject, configuration);
  }
  Judgment judgment = judge_with_oracle_check(drawn, subject, kernel, configuration);
  judgment.oracle_ms += drawing_ms;
  return judgment;
}

}  // namespace assay::harness
