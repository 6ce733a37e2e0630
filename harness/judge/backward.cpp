// The backward pass against the oracle: T1, T3 and T5, prefills, seeds, accumulation, controls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/trial.hpp"

namespace assay::harness {
namespace {

/// Threads in a block; of tiles, how many one block works on, one after another.
constexpr std::int64_t kFewBlocks = 32;
/// Between these, doubling is exact in every type.
constexpr double kTiny = 1e-30, kHuge = 1e30;

class BackwardJudge {
 public:
  explicit BackwardJudge(const Stage& stage)
      : stage_(stage),
        verdict_(stage.judgement.backward),
        roles_(roles_of(stage, backends::Pass::kBackward)),
        carries_seed_(carries_seed(stage.subject)) {}

  void run() {
    plan();
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    for (const Trial& trial : trials_)
      check_memory(stage_, trial, verdict_);
    for (std::size_t t = 0; t < trials_.size(); ++t)
      check(t);
    count_sets();
    if (!verdict_.failed()) check_addresses_again();
  }

 private:
  void add(Purpose purpose, std::size_t set, Lane lane, Start start, double seed_factor, Geometry geometry = {}) {
    if (verdict_.failed() || !stage_.takes(lane)) return;
    const auto [found, is_new] = launches_.try_emplace({set, lane});
    if (is_new) found->second = backward_launch(stage_, set, lane, verdict_);
    if (!found->second) return;
    Result<Experiment> placed =
        Experiment::place(stage_.bench.session, stage_.subject.module_in(lane), stage_.kernel,
                          backends::Pass::kBackward, device_lane(lane), lent(*found->second),
                          gradient_arguments(stage_.subject, stage_.sets[set], lane, start, seed_factor), roles_,
                          std::byte{0xFF}, geometry);
    if (!placed.ok()) return verdict_.fail(Outcome::resource_error, "memory", placed.error().message);
    trials_.push_back({.purpose = purpose, .set = set, .lane = lane, .experiment = placed.take()});
  }

  void plan() {
    for (std::size_t s = 0; s < stage_.sets.size(); ++s) {
      add(Purpose::kCheck, s, Lane::kNative, Start::kPrefilled, 1);
      add(Purpose::kCheck, s, Lane::kLift, Start::kPrefilled, 1);
      if (!stage_.is_deep(s)) continue;
      add(Purpose::kFromZero, s, Lane::kNative, Start::kZero, 1);
      add(Purpose::kAgain, s, Lane::kNative, Start::kZero, 1);
      add(Purpose::kDoubledSeed, s, Lane::kNative, Start::kZero, 2);
      add(Purpose::kZeroSeed, s, Lane::kNative, Start::kZero, 0);
      add(Purpose::kOrder, s, Lane::kNative, Start::kPrefilled, 1,
          {.order = backends::ThreadOrder::kReverse, .block = kFewBlocks, .beside = Beside::kLikely});
      add(Purpose::kOrder, s, Lane::kNative, Start::kPrefilled, 1,
          {backends::ThreadOrder::kShuffled, 1, stage_.bench.seed});
      for (const Lane lane : kBothLanes)
        add(Purpose::kOrder, s, lane, Start::kPrefilled, 1,
            {.block = kFewBlocks, .layout = Layout::kView, .beside = Beside::kLikely});
      if (!stage_.takes(Lane::kNative)) continue;
      add(Purpose::kTwice, s, Lane::kNative, Start::kZero, 1);
      if (verdict_.failed()) return;
      add(Purpose::kTwice, s, Lane::kNative, Start::kZero, 1);
      if (verdict_.failed()) return;
      std::vector<bool> shared = carries_seed_;
      shared.flip();
      trials_.back().experiment.share_gradients(trials_[trials_.size() - 2].experiment, shared);
    }
  }

  /// As for the forward pass.
  void check_addresses_again() {
    stage_.bench.session.reset();
    trials_.clear();
    add(Purpose::kCheck, stage_.sets.size() - 1, stage_.takes(Lane::kNative) ? Lane::kNative : Lane::kLift,
        Start::kPrefilled, 1);
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    check_memory(stage_, trials_.front(), verdict_);
    check(0);
  }

  const passes::GradientParameter& gradient(std::size_t g) const { return stage_.subject.adjoint->gradients[g]; }
  std::string name(std::size_t g) const {
    return stage_.subject.adjoint->module.kernels[0].var(gradient(g).gradient).name;
  }
  const PlacedArray& array(const Trial& trial, std::size_t g) const {
    return trial.experiment.arrays()[trial.experiment.parameters() + g];
  }
  std::span<const std::byte> bytes(const Trial& trial, std::size_t g) const {
    return trial.experiment.bytes(stage_.bench.session, trial.experiment.parameters() + g);
  }
  std::vector<Computed> read(const Trial& trial, std::size_t g) const {
    return read_scalars(stage_.subject.module_in(trial.lane), *array(trial, g).before, bytes(trial, g));
  }
  const Trial& find(Purpose purpose, std::size_t set) const {
    for (const Trial& trial : trials_) {
      if (trial.purpose == purpose && trial.set == set) return trial;
    }
    return trials_.front();
  }

  void check(std::size_t t) {
    const Trial& trial = trials_[t];
    switch (trial.purpose) {
      case Purpose::kCheck: return compare_with_oracle(trial, Start::kPrefilled, 1);
      case Purpose::kOrder: return compare_with_oracle(trial, Start::kPrefilled, 1);
      case Purpose::kFromZero: return compare_with_oracle(trial, Start::kZero, 1);
      case Purpose::kAgain: return check_again(trial);
      case Purpose::kDoubledSeed: return check_doubled(trial);
      case Purpose::kZeroSeed: return check_zero(trial);
      case Purpose::kTwice:
        if (t + 1 < trials_.size() && trials_[t + 1].purpose == Purpose::kTwice && trials_[t + 1].set == trial.set)
          return;
        return compare_with_oracle(trial, Start::kZero, 2);
      case Purpose::kOtherPoison: return;
    }
  }

  Tier tier_of(const Trial& trial) const {
    if (trial.purpose != Purpose::kCheck) return Tier::kT5;
    return trial.lane == Lane::kLift ? Tier::kT1 : Tier::kT3;
  }

  using ExpectedGradients = std::vector<std::vector<Expected>>;

  /// What the gradients must be along one path. `times`: how many launches added to the buffers that carry no seed.
  ExpectedGradients expected_along(const reference::Reference& path, const Trial& trial, Start start, int times) const {
    auto expected = expected_gradients(stage_.subject, stage_.sets[trial.set], path, trial.lane, start);
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (times != 2 || carries_seed_[g]) continue;
      // Twice as many terms, each twice as large against the partial sums.
      for (Expected& e : expected[g])
        e = {.value = 2 * e.value, .bound = 4 * e.bound, .scale = 2 * e.scale};
    }
    return expected;
  }

  /// Along the path, of those that the bounds allow, with which the trial agrees; the oracle's own if none. Good until
  /// the next call.
  const ExpectedGradients& expected_of(const Trial& trial, Start start, int times) {
    const InputSet& set = stage_.sets[trial.set];
    const auto paths = set.references(trial.lane);
    for (std::size_t k = 0; paths.size() > 1 && k < paths.size(); ++k) {
      along_path_ = expected_along(*paths[k], trial, start, times);
      bool agrees = true;
      for (std::size_t g = 0; g < along_path_.size() && agrees; ++g)
        agrees = compare(read(trial, g), along_path_[g]).agrees();
      if (agrees) return along_path_;
    }
    // Several trials of a set are held against the same, one after another.
    if (expected_set_ != trial.set) expected_.clear();
    expected_set_ = trial.set;
    const auto [found, is_new] = expected_.try_emplace({trial.lane, start, times});
    if (is_new) found->second = expected_along(set.reference, trial, start, times);
    return found->second;
  }

  void compare_with_oracle(const Trial& trial, Start start, int times) {
    const InputSet& set = stage_.sets[trial.set];
    const ExpectedGradients& expected = expected_of(trial, start, times);
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (!set.conclusive_gradient(trial.lane)) {
        auto& doubt = set.conclusive(trial.lane) ? verdict_.inconclusive.kink : verdict_.inconclusive.path;
        if (trial.purpose == Purpose::kCheck) doubt += static_cast<std::int64_t>(expected[g].size());
        continue;
      }
      const std::vector<Computed> got = read(trial, g);
      const Comparison comparison = compare(got, expected[g]);
      verdict_.count(tier_of(trial), comparison);
      report_mismatches(stage_, tier_of(trial), trial, name(g), *array(trial, g).before, got, expected[g], comparison,
                        verdict_);
      if (tier_of(trial) == Tier::kT1 && comparison.agrees()) present(trial, g, got, expected[g]);
    }
  }

  void present(const Trial& trial, std::size_t g, const std::vector<Computed>& got,
               const std::vector<Expected>& expected) {
    const ir::Argument& before = *array(trial, g).before;
    const std::size_t row = before.shape.size() > 1 ? static_cast<std::size_t>(before.shape.back()) : 1;
    const auto untouched = read_scalars(stage_.subject.module_in(trial.lane), before, before.bytes);
    verdict_.controls[name(g)].add(present_controls(got, expected, stage_.sets[trial.set].input_mean, row,
                                                    stage_.bench.seed + trial.set, untouched));
  }

  void check_again(const Trial& trial) {
    const Trial& first = find(Purpose::kFromZero, trial.set);
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto a = bytes(first, g);
      const auto b = bytes(trial, g);
      const bool equal = a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
      verdict_.count_one(Tier::kT5, 0, !equal);
      if (!equal) {
        verdict_.fail(
            Outcome::fail, "nondeterministic",
            fmt::format("'{}' differs between two runs from the same state (input set {})", name(g), trial.set));
      }
    }
  }

  void check_doubled(const Trial& trial) {
    // The subnormal numbers of f16 begin so high that doubling what is summed is not exact.
    if (computes_in(stage_.subject, ir::Scalar::kF16)) return;
    const Trial& once = find(Purpose::kFromZero, trial.set);
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto a = read(once, g);
      const auto b = read(trial, g);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double size = std::abs(a[i].value);
        if (!(size > kTiny && size < kHuge) || b[i].value == 2 * a[i].value) continue;
        verdict_.count_one(Tier::kT5, 0, true);
        return verdict_.fail(Outcome::fail, "seed_scaling",
                             fmt::format("a doubled seed does not double {}[{}]: {} became {} (input set {})", name(g),
                                         i, a[i].value, b[i].value, trial.set));
      }
    }
    verdict_.count_one(Tier::kT5, 0, false);
  }

  /// Whether a path that the bounds allow gives this scalar of a gradient no finite value, or none that is bounded:
  /// then zero times what the gradient consists of need not be zero.
  bool may_be_infinite(const Trial& trial, std::size_t g, std::size_t i) const {
    const InputSet& set = stage_.sets[trial.set];
    const auto paths = set.references(trial.lane);
    return paths.empty() || std::ranges::any_of(paths, [&](const reference::Reference* path) {
             const Expected expected = expected_along(*path, trial, Start::kZero, 1)[g][i];
             return !std::isfinite(expected.value) || !std::isfinite(expected.bound);
           });
  }

  void check_zero(const Trial& trial) {
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto got = read(trial, g);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].value == 0 || (!std::isfinite(got[i].value) && may_be_infinite(trial, g, i))) continue;
        verdict_.count_one(Tier::kT5, 0, true);
        return verdict_.fail(Outcome::fail, "zero_seed",
                             fmt::format("a zero seed gives {}[{}] = {}, expected exactly 0 (input set {})", name(g), i,
                                         got[i].value, trial.set));
      }
    }
    verdict_.count_one(Tier::kT5, 0, false);
  }

  void count_sets() {
    verdict_.input_sets = verdict_.generic_sets = verdict_.conclusive_generic_sets = 0;
    for (const InputSet& set : stage_.sets) {
      const bool conclusive = set.conclusive_gradient(Lane::kNative) && set.conclusive_gradient(Lane::kLift);
      ++verdict_.input_sets;
      verdict_.generic_sets += set.generic;
      verdict_.conclusive_generic_sets += set.generic && conclusive;
      if (conclusive) verdict_.coverage.add(set.reference.choices);
    }
  }

  const Stage& stage_;
  PassVerdict& verdict_;
  std::vector<Role> roles_;
  std::vector<bool> carries_seed_;
  std::map<std::pair<std::size_t, Lane>, std::optional<ir::Launch>> launches_;  ///< by input set and lane
  std::vector<Trial> trials_;
  ExpectedGradients along_path_;
  std::optional<std::size_t> expected_set_;  ///< that expected_ is of
  std::map<std::tuple<Lane, Start, int>, ExpectedGradients> expected_;
};

}  // namespace

void judge_backward(const Stage& stage) { BackwardJudge(stage).run(); }

}  // namespace assay::harness
