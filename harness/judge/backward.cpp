// The backward pass against the oracle: T1, T3 and T5, prefills, seeds, accumulation, controls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/context.hpp"

namespace assay::harness {
namespace {

/// Threads in a block; of tiles, how many one block works on, one after another.
constexpr std::int64_t kFewBlocks = 32;
/// Between these, doubling is exact in every type.
constexpr double kTiny = 1e-30, kHuge = 1e30;

class BackwardJudge {
 public:
  explicit BackwardJudge(const PassContext& pass_context)
      : stage_(pass_context),
        verdict_(pass_context.judgement.backward),
        roles_(roles_of(pass_context, backends::Pass::kBackward)),
        carries_seed_(carries_seed(pass_context.subject)) {}

  void run() {
    plan();
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    for (const JudgeContext& context : trials_)
      check_memory(stage_, context, verdict_);
    for (std::size_t t = 0; t < trials_.size(); ++t)
      check(t);
    count_sets();
    if (!verdict_.failed()) check_addresses_again();
  }

 private:
  void add(Purpose purpose, std::size_t set, Precision precision, Start start, double seed_factor,
           Geometry geometry = {}) {
    if (verdict_.failed() || !stage_.takes(precision)) return;
    const auto [found, is_new] = launches_.try_emplace({set, precision});
    if (is_new) found->second = backward_launch(stage_, set, precision, verdict_);
    if (!found->second) return;
    Result<KernelLauncher> placed =
        KernelLauncher::place(stage_.bench.session, stage_.subject.module_in(precision), stage_.kernel,
                              backends::Pass::kBackward, device_precision(precision), lent(*found->second),
                              gradient_arguments(stage_.subject, stage_.sets[set], precision, start, seed_factor),
                              roles_, std::byte{0xFF}, geometry);
    if (!placed.ok()) return verdict_.fail(Outcome::resource_error, "memory", placed.error().message);
    trials_.push_back({.purpose = purpose, .set = set, .precision = precision, .launcher = placed.take()});
  }

  void plan() {
    for (std::size_t s = 0; s < stage_.sets.size(); ++s) {
      add(Purpose::kCheck, s, Precision::kNative, Start::kNonZero, 1);
      add(Purpose::kCheck, s, Precision::kPromoted, Start::kNonZero, 1);
      if (!stage_.is_deep(s)) continue;
      add(Purpose::kFromZero, s, Precision::kNative, Start::kZero, 1);
      add(Purpose::kAgain, s, Precision::kNative, Start::kZero, 1);
      add(Purpose::kDoubledSeed, s, Precision::kNative, Start::kZero, 2);
      add(Purpose::kZeroSeed, s, Precision::kNative, Start::kZero, 0);
      add(Purpose::kOrder, s, Precision::kNative, Start::kNonZero, 1,
          {.order = backends::ThreadOrder::kReverse, .block = kFewBlocks, .beside = Beside::kLikely});
      add(Purpose::kOrder, s, Precision::kNative, Start::kNonZero, 1,
          {backends::ThreadOrder::kShuffled, 1, stage_.bench.seed});
      for (const Precision precision : kBothPrecisions)
        add(Purpose::kOrder, s, precision, Start::kNonZero, 1,
            {.block = kFewBlocks, .layout = Layout::kView, .beside = Beside::kLikely});
      if (!stage_.takes(Precision::kNative)) continue;
      add(Purpose::kTwice, s, Precision::kNative, Start::kZero, 1);
      if (verdict_.failed()) return;
      add(Purpose::kTwice, s, Precision::kNative, Start::kZero, 1);
      if (verdict_.failed()) return;
      std::vector<bool> shared = carries_seed_;
      shared.flip();
      trials_.back().launcher.share_gradients(trials_[trials_.size() - 2].launcher, shared);
    }
  }

  /// As for the forward pass.
  void check_addresses_again() {
    stage_.bench.session.reset();
    trials_.clear();
    add(Purpose::kCheck, stage_.sets.size() - 1,
        stage_.takes(Precision::kNative) ? Precision::kNative : Precision::kPromoted, Start::kNonZero, 1);
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    check_memory(stage_, trials_.front(), verdict_);
    check(0);
  }

  const transforms::GradientParameter& gradient(std::size_t g) const { return stage_.subject.adjoint->gradients[g]; }
  std::string name(std::size_t g) const {
    return stage_.subject.adjoint->module.kernels[0].var(gradient(g).gradient).name;
  }
  const PlacedArray& array(const JudgeContext& context, std::size_t g) const {
    return context.launcher.arrays()[context.launcher.parameters() + g];
  }
  std::span<const std::byte> bytes(const JudgeContext& context, std::size_t g) const {
    return context.launcher.bytes(stage_.bench.session, context.launcher.parameters() + g);
  }
  std::vector<Computed> read(const JudgeContext& context, std::size_t g) const {
    return read_scalars(stage_.subject.module_in(context.precision), *array(context, g).before, bytes(context, g));
  }
  const JudgeContext& find(Purpose purpose, std::size_t set) const {
    for (const JudgeContext& context : trials_) {
      if (context.purpose == purpose && context.set == set) return context;
    }
    return trials_.front();
  }

  void check(std::size_t t) {
    const JudgeContext& context = trials_[t];
    switch (context.purpose) {
      case Purpose::kCheck: return compare_with_oracle(context, Start::kNonZero, 1);
      case Purpose::kOrder: return compare_with_oracle(context, Start::kNonZero, 1);
      case Purpose::kFromZero: return compare_with_oracle(context, Start::kZero, 1);
      case Purpose::kAgain: return check_again(context);
      case Purpose::kDoubledSeed: return check_doubled(context);
      case Purpose::kZeroSeed: return check_zero(context);
      case Purpose::kTwice:
        if (t + 1 < trials_.size() && trials_[t + 1].purpose == Purpose::kTwice && trials_[t + 1].set == context.set)
          return;
        return compare_with_oracle(context, Start::kZero, 2);
      case Purpose::kOtherPoison: return;
    }
  }

  Tier tier_of(const JudgeContext& context) const {
    if (context.purpose != Purpose::kCheck) return Tier::kT5;
    return context.precision == Precision::kPromoted ? Tier::kT1 : Tier::kT3;
  }

  using ExpectedGradients = std::vector<std::vector<Expected>>;

  /// What the gradients must be along one path. `times`: how many launches added to the buffers that carry no seed.
  ExpectedGradients expected_along(const reference::Reference& path, const JudgeContext& context, Start start,
                                   int times) const {
    auto expected = expected_gradients(stage_.subject, stage_.sets[context.set], path, context.precision, start);
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
  const ExpectedGradients& expected_of(const JudgeContext& context, Start start, int times) {
    const InputSet& set = stage_.sets[context.set];
    const auto paths = set.references(context.precision);
    for (std::size_t k = 0; paths.size() > 1 && k < paths.size(); ++k) {
      along_path_ = expected_along(*paths[k], context, start, times);
      bool agrees = true;
      for (std::size_t g = 0; g < along_path_.size() && agrees; ++g)
        agrees = compare(read(context, g), along_path_[g]).agrees();
      if (agrees) return along_path_;
    }
    // Several trials of a set are held against the same, one after another.
    if (expected_set_ != context.set) expected_.clear();
    expected_set_ = context.set;
    const auto [found, is_new] = expected_.try_emplace({context.precision, start, times});
    if (is_new) found->second = expected_along(set.reference, context, start, times);
    return found->second;
  }

  void compare_with_oracle(const JudgeContext& context, Start start, int times) {
    const InputSet& set = stage_.sets[context.set];
    const ExpectedGradients& expected = expected_of(context, start, times);
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (!set.conclusive_gradient(context.precision)) {
        auto& doubt = set.conclusive(context.precision) ? verdict_.inconclusive.kink : verdict_.inconclusive.path;
        if (context.purpose == Purpose::kCheck) doubt += static_cast<std::int64_t>(expected[g].size());
        continue;
      }
      const std::vector<Computed> got = read(context, g);
      const Comparison comparison = compare(got, expected[g]);
      verdict_.count(tier_of(context), comparison);
      report_mismatches(stage_, tier_of(context), context, name(g), *array(context, g).before, got, expected[g],
                        comparison, verdict_);
      if (tier_of(context) == Tier::kT1 && comparison.agrees()) present(context, g, got, expected[g]);
    }
  }

  void present(const JudgeContext& context, std::size_t g, const std::vector<Computed>& got,
               const std::vector<Expected>& expected) {
    const ir::Argument& before = *array(context, g).before;
    const std::size_t row = before.shape.size() > 1 ? static_cast<std::size_t>(before.shape.back()) : 1;
    const auto untouched = read_scalars(stage_.subject.module_in(context.precision), before, before.bytes);
    verdict_.controls[name(g)].add(present_controls(got, expected, stage_.sets[context.set].input_mean, row,
                                                    stage_.bench.seed + context.set, untouched));
  }

  void check_again(const JudgeContext& context) {
    const JudgeContext& first = find(Purpose::kFromZero, context.set);
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto a = bytes(first, g);
      const auto b = bytes(context, g);
      const bool equal = a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
      verdict_.count_one(Tier::kT5, 0, !equal);
      if (!equal) {
        verdict_.fail(
            Outcome::fail, "nondeterministic",
            fmt::format("'{}' differs between two runs from the same state (input set {})", name(g), context.set));
      }
    }
  }

  void check_doubled(const JudgeContext& context) {
    // The subnormal numbers of f16 begin so high that doubling what is summed is not exact.
    if (computes_in(stage_.subject, ir::Scalar::kF16)) return;
    const JudgeContext& once = find(Purpose::kFromZero, context.set);
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto a = read(once, g);
      const auto b = read(context, g);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double size = std::abs(a[i].value);
        if (!(size > kTiny && size < kHuge) || b[i].value == 2 * a[i].value) continue;
        verdict_.count_one(Tier::kT5, 0, true);
        return verdict_.fail(Outcome::fail, "seed_scaling",
                             fmt::format("a doubled seed does not double {}[{}]: {} became {} (input set {})", name(g),
                                         i, a[i].value, b[i].value, context.set));
      }
    }
    verdict_.count_one(Tier::kT5, 0, false);
  }

  /// Whether a path that the bounds allow gives this scalar of a gradient no finite value, or none that is bounded:
  /// then zero times what the gradient consists of need not be zero.
  bool may_be_infinite(const JudgeContext& context, std::size_t g, std::size_t i) const {
    const InputSet& set = stage_.sets[context.set];
    const auto paths = set.references(context.precision);
    return paths.empty() || std::ranges::any_of(paths, [&](const reference::Reference* path) {
             const Expected expected = expected_along(*path, context, Start::kZero, 1)[g][i];
             return !std::isfinite(expected.value) || !std::isfinite(expected.bound);
           });
  }

  void check_zero(const JudgeContext& context) {
    for (std::size_t g = 0; g < carries_seed_.size(); ++g) {
      const auto got = read(context, g);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].value == 0 || (!std::isfinite(got[i].value) && may_be_infinite(context, g, i))) continue;
        verdict_.count_one(Tier::kT5, 0, true);
        return verdict_.fail(Outcome::fail, "zero_seed",
                             fmt::format("a zero seed gives {}[{}] = {}, expected exactly 0 (input set {})", name(g), i,
                                         got[i].value, context.set));
      }
    }
    verdict_.count_one(Tier::kT5, 0, false);
  }

  void count_sets() {
    verdict_.input_sets = verdict_.generic_sets = verdict_.conclusive_generic_sets = 0;
    for (const InputSet& set : stage_.sets) {
      const bool conclusive =
          set.conclusive_gradient(Precision::kNative) && set.conclusive_gradient(Precision::kPromoted);
      ++verdict_.input_sets;
      verdict_.generic_sets += set.generic;
      verdict_.conclusive_generic_sets += set.generic && conclusive;
      if (conclusive) verdict_.coverage.add(set.reference.choices);
    }
  }

  const PassContext& stage_;
  PassVerdict& verdict_;
  std::vector<Role> roles_;
  std::vector<bool> carries_seed_;
  std::map<std::pair<std::size_t, Precision>, std::optional<ir::Launch>> launches_;  ///< by input set and lane
  std::vector<JudgeContext> trials_;
  ExpectedGradients along_path_;
  std::optional<std::size_t> expected_set_;  ///< that expected_ is of
  std::map<std::tuple<Precision, Start, int>, ExpectedGradients> expected_;
};

}  // namespace

void judge_backward(const PassContext& pass_context) { BackwardJudge(pass_context).run(); }

}  // namespace assay::harness
