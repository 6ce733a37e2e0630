// Compares two devices: runs the same launches on both and compares the results.
//
// Each result lies within its own bound of the true value, so that two results differ by no more than the sum of both
// bounds. This also detects incorrect results on the other device, which this run does not judge otherwise.
#include <optional>
#include <utility>
#include <vector>

#include "harness/judge/context.hpp"

namespace assay::harness {
namespace {

class AgreementJudge {
 public:
  AgreementJudge(const PassContext& pass_context, const CrossCheckDevice& cross_check_device, backends::Pass pass)
      : pass_context_(pass_context),
        pass_(pass),
        verdict_(pass == backends::Pass::kForward ? pass_context.judgment.forward : pass_context.judgment.backward),
        profile_(cross_check_device.profile),
        name_(cross_check_device.name),
        configuration_{.session = cross_check_device.session,
                       .policy = pass_context.configuration.policy,
                       .profile = cross_check_device.profile,
                       .seed = pass_context.configuration.seed,
                       .forward = pass_context.configuration.forward,
                       .backward = pass_context.configuration.backward,
                       .time_limit = pass_context.configuration.time_limit,
                       .cross_check_device = nullptr},
        others_{.subject = pass_context.subject,
                .kernel = cross_check_device.kernel,
                .configuration = configuration_,
                .input_sets = pass_context.input_sets,
                .is_poisoned = pass_context.is_poisoned,
                .parameter_uses = pass_context.parameter_uses,
                .build_target = {},
                .judgment = pass_context.judgment} {}

  void run() {
    for (std::size_t set = 0; set < pass_context_.input_sets.size() && !verdict_.failed(); ++set) {
      const reference::ReferenceResult reference = reference_of(pass_context_.input_sets[set]);
      for (const Precision precision : kBothPrecisions) {
        if (pass_context_.uses_precision(precision) && is_one_path(pass_context_.input_sets[set], reference, precision))
          compare_on(set, precision, reference);
      }
    }
  }

 private:
  /// The oracle's result for the set with the other device's math functions.
  reference::ReferenceResult reference_of(const InputSet& set) const {
    reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative], .profile = profile_};
    run.computes_gradient = pass_context_.subject.adjoint != nullptr;
    run.cotangents = set.cotangents;
    run.uninitialized = pass_context_.is_poisoned;
    return pass_context_.subject.oracle.evaluate(run);
  }

  /// Values along different paths are never compared.
  bool is_one_path(const InputSet& set, const reference::ReferenceResult& reference, Precision precision) const {
    if (set.references(precision).size() != 1 || reference.decisions.uncertain_decision_counts[precision] != 0)
      return false;
    if (pass_ == backends::Pass::kForward) return true;
    return set.has_conclusive_gradient(precision) && reference.decisions.uncertain_kinks[precision] == 0;
  }

  std::optional<TestLaunch> ran(const PassContext& pass_context, std::size_t set, Precision precision) const {
    pass_context.configuration.session.reset();
    auto launch = borrow_launch(pass_context.input_sets[set].launch_by_precision[precision]);
    std::vector<ir::Argument> gradients;
    if (pass_ == backends::Pass::kBackward) {
      std::optional<ir::Launch> backward = make_backward_launch(pass_context, set, precision, verdict_);
      if (!backward) return std::nullopt;
      launch = std::make_shared<const ir::Launch>(*std::move(backward));
      gradients = make_gradient_arguments(pass_context.subject, pass_context.input_sets[set], precision,
                                          InitialGradient::kNonZero, 1);
    }
    Result<KernelLauncher> placed = KernelLauncher::place(
        pass_context.configuration.session, pass_context.subject.module_in(precision), pass_context.kernel, pass_,
        to_backend_precision(precision), launch, std::move(gradients), roles_of(pass_context, pass_), std::byte{0xFF});
    if (!placed.ok()) {
      verdict_.fail_for_memory(placed.error());
      return std::nullopt;
    }
    TestLaunch test_launch{.purpose = LaunchPurpose::kDifferentPoison,
                           .input_set_index = set,
                           .precision = precision,
                           .launcher = placed.take()};
    if (!run_launches(pass_context, {&test_launch, 1}, verdict_)) return std::nullopt;
    return test_launch;
  }

  void compare_on(std::size_t set, Precision precision, const reference::ReferenceResult& reference) {
    // Failures on the other device must name it.
    const std::string target = std::exchange(verdict_.target, name_);
    const std::optional<TestLaunch> theirs = ran(others_, set, precision);
    verdict_.target = target;
    const std::optional<TestLaunch> mine = theirs ? ran(pass_context_, set, precision) : std::nullopt;
    if (!mine) return;
    const InputSet& inputs = pass_context_.input_sets[set];
    if (pass_ == backends::Pass::kForward) {
      const auto expected = expected_outputs(inputs.reference, precision);
      const auto other = expected_outputs(reference, precision);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        if (expected[p] && other[p])
          compare_array(*mine, *theirs, p, expected[p]->scalars, other[p]->scalars, &expected[p]->is_written);
      }
      return;
    }
    const auto expected =
        expected_gradients(pass_context_.subject, inputs, inputs.reference, precision, InitialGradient::kNonZero);
    const auto other =
        expected_gradients(pass_context_.subject, inputs, reference, precision, InitialGradient::kNonZero);
    for (std::size_t g = 0; g < expected.size(); ++g)
      compare_array(*mine, *theirs, mine->launcher.parameters() + g, expected[g], other[g], nullptr);
  }

  std::vector<ComputedScalar> scalars(const PassContext& pass_context, const TestLaunch& test_launch,
                                      std::size_t array) const {
    return read_scalars(pass_context.subject.module_in(test_launch.precision),
                        *test_launch.launcher.arrays()[array].initial_content,
                        test_launch.launcher.bytes(pass_context.configuration.session, array));
  }

  /// `written`: which scalars the kernel writes; null: all.
  void compare_array(const TestLaunch& mine, const TestLaunch& theirs, std::size_t array,
                     std::span<const ExpectedScalar> expected, std::span<const ExpectedScalar> other,
                     const std::vector<bool>* written) {
    const std::vector<ComputedScalar> got = scalars(pass_context_, mine, array);
    const std::vector<ComputedScalar> there = scalars(others_, theirs, array);
    std::vector<ExpectedScalar> wanted(expected.begin(), expected.end());
    ComparisonResult comparison;
    for (std::size_t i = 0; i < got.size(); ++i) {
      wanted[i].value = there[i].value;
      wanted[i].integer = there[i].integer;
      wanted[i].bound += other[i].bound;
      if (written == nullptr || (*written)[i]) comparison.add(i, got[i], wanted[i]);
    }
    verdict_.count_agreement(comparison);
    const PlacedArray& placed = mine.launcher.arrays()[array];
    report_mismatches(pass_context_, NamedCheck::kDeviceAgreement, mine, placed.role.name, *placed.initial_content, got,
                      wanted, comparison, verdict_);
  }

  const PassContext& pass_context_;
  backends::Pass pass_;
  PassVerdict& verdict_;
  reference::ArithmeticProfile profile_;
  std::string name_;
  JudgeConfiguration configuration_;
  PassContext others_;
};

}  // namespace

void judge_agreement(const PassContext& pass_context, backends::Pass pass) {
  AgreementJudge(pass_context, *pass_context.configuration.cross_check_device, pass).run();
}

}  // namespace assay::harness
