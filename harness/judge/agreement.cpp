// One device against another: the same launches on both, compared with each other.
//
// Each result lies within its own bound of the true value, so two of them differ by no more than the sum of both
// bounds. What is wrong on the other device, which this run judges by nothing else, is seen here as well.
#include <optional>
#include <utility>
#include <vector>

#include "harness/judge/trial.hpp"

namespace assay::harness {
namespace {

class AgreementJudge {
 public:
  AgreementJudge(const Stage& stage, const Peer& peer, backends::Pass pass)
      : stage_(stage),
        pass_(pass),
        verdict_(pass == backends::Pass::kForward ? stage.judgement.forward : stage.judgement.backward),
        profile_(peer.profile),
        name_(peer.name),
        bench_{.session = peer.session,
               .policy = stage.bench.policy,
               .profile = peer.profile,
               .seed = stage.bench.seed,
               .forward = stage.bench.forward,
               .backward = stage.bench.backward,
               .time_limit = stage.bench.time_limit,
               .peer = nullptr},
        others_{.subject = stage.subject,
                .kernel = peer.kernel,
                .bench = bench_,
                .sets = stage.sets,
                .poisoned = stage.poisoned,
                .uses = stage.uses,
                .target = {},
                .judgement = stage.judgement} {}

  void run() {
    for (std::size_t set = 0; set < stage_.sets.size() && !verdict_.failed(); ++set) {
      const reference::Reference reference = reference_of(stage_.sets[set]);
      for (const Lane lane : kBothLanes) {
        if (stage_.takes(lane) && is_one_path(stage_.sets[set], reference, lane)) compare_on(set, lane, reference);
      }
    }
  }

 private:
  /// What the oracle says of the set with the other device's functions.
  reference::Reference reference_of(const InputSet& set) const {
    reference::Run run{.launch = set.launch[Lane::kNative], .profile = profile_};
    run.gradient = stage_.subject.adjoint != nullptr;
    run.seeds = set.seeds;
    run.uninitialised = stage_.poisoned;
    return stage_.subject.oracle.evaluate(run);
  }

  /// Values along different paths are never compared.
  bool is_one_path(const InputSet& set, const reference::Reference& reference, Lane lane) const {
    if (set.references(lane).size() != 1 || reference.decisions.uncertain[lane] != 0) return false;
    if (pass_ == backends::Pass::kForward) return true;
    return set.conclusive_gradient(lane) && reference.decisions.uncertain_kinks[lane] == 0;
  }

  std::optional<Trial> ran(const Stage& stage, std::size_t set, Lane lane) const {
    stage.bench.session.reset();
    auto launch = lent(stage.sets[set].launch[lane]);
    std::vector<ir::Argument> gradients;
    if (pass_ == backends::Pass::kBackward) {
      std::optional<ir::Launch> backward = backward_launch(stage, set, lane, verdict_);
      if (!backward) return std::nullopt;
      launch = std::make_shared<const ir::Launch>(*std::move(backward));
      gradients = gradient_arguments(stage.subject, stage.sets[set], lane, Start::kPrefilled, 1);
    }
    Result<Experiment> placed =
        Experiment::place(stage.bench.session, stage.subject.module_in(lane), stage.kernel, pass_, device_lane(lane),
                          launch, std::move(gradients), roles_of(stage, pass_), std::byte{0xFF});
    if (!placed.ok()) {
      verdict_.fail(Outcome::resource_error, "memory", placed.error().message);
      return std::nullopt;
    }
    Trial trial{.purpose = Purpose::kOtherPoison, .set = set, .lane = lane, .experiment = placed.take()};
    if (!run_trials(stage, {&trial, 1}, verdict_)) return std::nullopt;
    return trial;
  }

  void compare_on(std::size_t set, Lane lane, const reference::Reference& reference) {
    // A failure of the other device's own says whose it is.
    const std::string target = std::exchange(verdict_.target, name_);
    const std::optional<Trial> theirs = ran(others_, set, lane);
    verdict_.target = target;
    const std::optional<Trial> mine = theirs ? ran(stage_, set, lane) : std::nullopt;
    if (!mine) return;
    const InputSet& inputs = stage_.sets[set];
    if (pass_ == backends::Pass::kForward) {
      const auto expected = expected_outputs(inputs.reference, lane);
      const auto other = expected_outputs(reference, lane);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        if (expected[p] && other[p])
          compare_array(*mine, *theirs, p, expected[p]->scalars, other[p]->scalars, &expected[p]->written);
      }
      return;
    }
    const auto expected = expected_gradients(stage_.subject, inputs, inputs.reference, lane, Start::kPrefilled);
    const auto other = expected_gradients(stage_.subject, inputs, reference, lane, Start::kPrefilled);
    for (std::size_t g = 0; g < expected.size(); ++g)
      compare_array(*mine, *theirs, mine->experiment.parameters() + g, expected[g], other[g], nullptr);
  }

  std::vector<Computed> scalars(const Stage& stage, const Trial& trial, std::size_t array) const {
    return read_scalars(stage.subject.module_in(trial.lane), *trial.experiment.arrays()[array].before,
                        trial.experiment.bytes(stage.bench.session, array));
  }

  /// `written`: which scalars the kernel writes; null: all.
  void compare_array(const Trial& mine, const Trial& theirs, std::size_t array, std::span<const Expected> expected,
                     std::span<const Expected> other, const std::vector<bool>* written) {
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
    const PlacedArray& placed = mine.experiment.arrays()[array];
    report_mismatches(stage_, Tier::kDevices, mine, placed.role.name, *placed.before, got, wanted, comparison,
                      verdict_);
  }

  const Stage& stage_;
  backends::Pass pass_;
  PassVerdict& verdict_;
  reference::Profile profile_;
  std::string name_;
  Bench bench_;
  Stage others_;
};

}  // namespace

void judge_agreement(const Stage& stage, backends::Pass pass) { AgreementJudge(stage, *stage.bench.peer, pass).run(); }

}  // namespace assay::harness
