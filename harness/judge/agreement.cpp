// One device against another: the same launches on both, compared with each other.
//
// Each result lies within its own bound of the true value, so two of them differ by no more than the sum of both
// bounds. What is wrong on the other device, which this run judges by nothing else, is seen here as well.
#include <optional>
#include <utility>
#include <vector>

#include "harness/judge/context.hpp"

namespace assay::harness {
namespace {

class AgreementJudge {
 public:
  AgreementJudge(const PassContext& pass_context, const Peer& peer, backends::Pass pass)
      : stage_(pass_context),
        pass_(pass),
        verdict_(pass == backends::Pass::kForward ? pass_context.judgement.forward : pass_context.judgement.backward),
        profile_(peer.profile),
        name_(peer.name),
        bench_{.session = peer.session,
               .policy = pass_context.bench.policy,
               .profile = peer.profile,
               .seed = pass_context.bench.seed,
               .forward = pass_context.bench.forward,
               .backward = pass_context.bench.backward,
               .time_limit = pass_context.bench.time_limit,
               .peer = nullptr},
        others_{.subject = pass_context.subject,
                .kernel = peer.kernel,
                .bench = bench_,
                .sets = pass_context.sets,
                .poisoned = pass_context.poisoned,
                .uses = pass_context.uses,
                .target = {},
                .judgement = pass_context.judgement} {}

  void run() {
    for (std::size_t set = 0; set < stage_.sets.size() && !verdict_.failed(); ++set) {
      const reference::Reference reference = reference_of(stage_.sets[set]);
      for (const Precision precision : kBothPrecisions) {
        if (stage_.takes(precision) && is_one_path(stage_.sets[set], reference, precision))
          compare_on(set, precision, reference);
      }
    }
  }

 private:
  /// What the oracle says of the set with the other device's functions.
  reference::Reference reference_of(const InputSet& set) const {
    reference::Run run{.launch = set.launch[Precision::kNative], .profile = profile_};
    run.gradient = stage_.subject.adjoint != nullptr;
    run.seeds = set.seeds;
    run.uninitialised = stage_.poisoned;
    return stage_.subject.oracle.evaluate(run);
  }

  /// Values along different paths are never compared.
  bool is_one_path(const InputSet& set, const reference::Reference& reference, Precision precision) const {
    if (set.references(precision).size() != 1 || reference.decisions.uncertain[precision] != 0) return false;
    if (pass_ == backends::Pass::kForward) return true;
    return set.conclusive_gradient(precision) && reference.decisions.uncertain_kinks[precision] == 0;
  }

  std::optional<JudgeContext> ran(const PassContext& pass_context, std::size_t set, Precision precision) const {
    pass_context.bench.session.reset();
    auto launch = lent(pass_context.sets[set].launch[precision]);
    std::vector<ir::Argument> gradients;
    if (pass_ == backends::Pass::kBackward) {
      std::optional<ir::Launch> backward = backward_launch(pass_context, set, precision, verdict_);
      if (!backward) return std::nullopt;
      launch = std::make_shared<const ir::Launch>(*std::move(backward));
      gradients = gradient_arguments(pass_context.subject, pass_context.sets[set], precision, Start::kNonZero, 1);
    }
    Result<KernelLauncher> placed = KernelLauncher::place(
        pass_context.bench.session, pass_context.subject.module_in(precision), pass_context.kernel, pass_,
        device_precision(precision), launch, std::move(gradients), roles_of(pass_context, pass_), std::byte{0xFF});
    if (!placed.ok()) {
      verdict_.fail(Outcome::resource_error, "memory", placed.error().message);
      return std::nullopt;
    }
    JudgeContext context{
        .purpose = Purpose::kOtherPoison, .set = set, .precision = precision, .launcher = placed.take()};
    if (!run_trials(pass_context, {&context, 1}, verdict_)) return std::nullopt;
    return context;
  }

  void compare_on(std::size_t set, Precision precision, const reference::Reference& reference) {
    // A failure of the other device's own says whose it is.
    const std::string target = std::exchange(verdict_.target, name_);
    const std::optional<JudgeContext> theirs = ran(others_, set, precision);
    verdict_.target = target;
    const std::optional<JudgeContext> mine = theirs ? ran(stage_, set, precision) : std::nullopt;
    if (!mine) return;
    const InputSet& inputs = stage_.sets[set];
    if (pass_ == backends::Pass::kForward) {
      const auto expected = expected_outputs(inputs.reference, precision);
      const auto other = expected_outputs(reference, precision);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        if (expected[p] && other[p])
          compare_array(*mine, *theirs, p, expected[p]->scalars, other[p]->scalars, &expected[p]->written);
      }
      return;
    }
    const auto expected = expected_gradients(stage_.subject, inputs, inputs.reference, precision, Start::kNonZero);
    const auto other = expected_gradients(stage_.subject, inputs, reference, precision, Start::kNonZero);
    for (std::size_t g = 0; g < expected.size(); ++g)
      compare_array(*mine, *theirs, mine->launcher.parameters() + g, expected[g], other[g], nullptr);
  }

  std::vector<Computed> scalars(const PassContext& pass_context, const JudgeContext& context, std::size_t array) const {
    return read_scalars(pass_context.subject.module_in(context.precision), *context.launcher.arrays()[array].before,
                        context.launcher.bytes(pass_context.bench.session, array));
  }

  /// `written`: which scalars the kernel writes; null: all.
  void compare_array(const JudgeContext& mine, const JudgeContext& theirs, std::size_t array,
                     std::span<const Expected> expected, std::span<const Expected> other,
                     const std::vector<bool>* written) {
    const std::vector<Computed> got = scalars(stage_, mine, array);
    const std::vector<Computed> there = scalars(others_, theirs, array);
    std::vector<Expected> wanted(expected.begin(), expected.end());
    Comparison comparison;
    for (std::size_t i = 0; i < got.size(); ++i) {
      wanted[i].value = there[i].value;
      wanted[i].integer = there[i].integer;
      wanted[i].bound += other[i].bound;
      if (written == nullptr || (*written)[i]) comparison.add(i, got[i], wanted[i]);
    }
    verdict_.count_agreement(comparison);
    const PlacedArray& placed = mine.launcher.arrays()[array];
    report_mismatches(stage_, Tier::kDevices, mine, placed.role.name, *placed.before, got, wanted, comparison,
                      verdict_);
  }

  const PassContext& stage_;
  backends::Pass pass_;
  PassVerdict& verdict_;
  reference::Profile profile_;
  std::string name_;
  JudgeConfiguration bench_;
  PassContext others_;
};

}  // namespace

void judge_agreement(const PassContext& pass_context, backends::Pass pass) {
  AgreementJudge(pass_context, *pass_context.bench.peer, pass).run();
}

}  // namespace assay::harness
