#include "harness/judge/recorded_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/hash.hpp"
#include "support/rng.hpp"

namespace assay::harness {
namespace {

using reference::Finding;
using reference::ReferenceResult;

/// Instructions of the oracle, forward: to look for findings in a recorded launch, in the set of a recorded launch, and
/// in the set of a perturbed copy. A gradient takes about ten times as long.
constexpr std::int64_t kRecordedBudget = 40'000'000, kRecordedSetBudget = 2'000'000, kPerturbedSetBudget = 400'000;
/// Limit for one set. The estimate from the launch's mean thread may be exceeded.
constexpr std::int64_t kMostForRecordedSet = 10 * kRecordedSetBudget;
/// Scalar components in all sets together: each takes about 100 bytes in the oracle's results.
constexpr std::size_t kMostComponentsInSets = std::size_t{1} << 21;
/// Threads that the oracle runs of a launch with more instructions than kRecordedBudget.
constexpr std::int64_t kFewThreads = 64;
/// A set whose decisions are uncertain is made again with fewer threads, by this factor.
constexpr std::int64_t kFewerThreads = 4;
/// Draws of a perturbed copy. Each is closer to the recorded values by this factor.
constexpr int kPerturbations = 6;
constexpr double kCloser = 0.25;
/// Every other copy starts this close to the recorded values, in widths of the range.
constexpr double kLocal = 0.125;
/// Relative width of the range around a value that is the same in all elements.
constexpr double kConstantWidth = 0.125;

struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Around a single value there is a small range, so that perturbed copies differ.
  ValueRange widened() const {
    if (low < high) return *this;
    const double width = kConstantWidth * (low == 0 ? 1 : std::abs(low));
    return {low - width, high + width};
  }
};

InputDrawFailure::Reason reason_of_recorded(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kRace: return InputDrawFailure::Reason::kRace;
    case Finding::Kind::kOrderDependentAtomic: return InputDrawFailure::Reason::kDifferentThreadOrder;
    case Finding::Kind::kOutOfBounds: return InputDrawFailure::Reason::kOutOfBounds;
    case Finding::Kind::kUninitializedRead: return InputDrawFailure::Reason::kUninitialized;
    default: return InputDrawFailure::Reason::kNoDomain;
  }
}

/// The launch with at most `most` threads: the first ones along its first dimensions.
ir::Launch leading(ir::Launch launch, std::int64_t most) {
  for (std::size_t d = 0; d < launch.extents.size() && launch.threads() > most; ++d) {
    const std::int64_t others = launch.threads() / std::max(launch.extents[d], 1);
    launch.extents[d] = static_cast<std::int32_t>(std::max<std::int64_t>(most / std::max<std::int64_t>(others, 1), 1));
  }
  return launch;
}

class RecordedSetDrawer {
 public:
  RecordedSetDrawer(const KernelUnderTest& subject, const InputSpace& space, std::span<const RecordedLaunch> recorded,
                    const JudgingPolicy& policy, const reference::ArithmeticProfile& profile, std::uint64_t seed)
      : subject_(subject), space_(space), recorded_(recorded), policy_(policy), profile_(profile), seed_(seed) {}

  std::variant<RecordedSets, InputDrawFailure> draw() {
    for (const RecordedLaunch& recorded : recorded_) {
      if (auto none = add_recorded(recorded)) return *std::move(none);
    }
    const std::size_t wanted = std::min(static_cast<std::size_t>(policy_.input_sets()),
                                        kMostComponentsInSets / std::max<std::size_t>(components_, 1));
    for (std::size_t s = recorded_.size(); s < wanted; ++s)
      add_perturbed(s);
    return std::move(made_);
  }

 private:
  InputDrawFailure none(const RecordedLaunch& recorded, const Finding& finding) const {
    return {.reason = reason_of_recorded(finding.kind),
            .message = fmt::format("in the recorded launch {} of ({}) threads: {}", recorded.file_name,
                                   fmt::join(recorded.launch.extents, ", "),
                                   reference::describe(finding, subject_.module, subject_.kernel)),
            .finding = finding,
            .is_for_recorded_launch = true};
  }

  /// The launch, forward. If it has many threads, they are searched for findings, and the result is that of the sample
  /// that judge_forward_sizes() runs; of a sample with many instructions, the result is that of a part.
  ReferenceResult whole(const ir::Launch& launch, std::int64_t& threads) const {
    reference::OracleRun run = space_.run_of({.seed = seed_, .instruction_budget = kRecordedBudget}, launch);
    run.profile = profile_;
    run.reports_only_accessed_elements = true;
    threads = launch.threads();
    ReferenceResult result = subject_.oracle.evaluate(run);
    const std::vector<std::int64_t> sample = sampled_threads(launch.threads(), seed_);
    if (!sample.empty() && !(result.is_complete && !result.findings.empty())) {
      run.thread_order = sample;
      threads = static_cast<std::int64_t>(sample.size());
      result = subject_.oracle.evaluate(run);
    }
    if (result.is_complete || threads <= kFewThreads) return result;
    run.thread_order.clear();
    for (std::int64_t k = 0; k < kFewThreads; ++k) {
      const std::int64_t at = k * (threads - 1) / (kFewThreads - 1);
      run.thread_order.push_back(sample.empty() ? at : sample[static_cast<std::size_t>(at)]);
    }
    threads = kFewThreads;
    return subject_.oracle.evaluate(run);
  }

  std::optional<InputDrawFailure> add_recorded(const RecordedLaunch& recorded) {
    std::int64_t threads = 1;
    ReferenceResult seen = whole(recorded.launch, threads);
    if (!seen.findings.empty()) return none(recorded, seen.findings.front());
    per_thread_.push_back(seen.instructions / std::max<std::int64_t>(threads, 1) + 1);
    std::size_t components = 0;
    for (const ir::Argument& argument : recorded.launch.arguments)
      components += component_count(subject_, argument);
    components_ = std::max(components_, components);

    const ir::Launch launch = part_of(recorded.launch, per_thread_.back(), kRecordedSetBudget);
    const bool is_part = launch.threads() < recorded.launch.threads();
    if (is_part && !has_atomics(space_.parameter_uses()))
      made_.large_launches.push_back({recorded.launch, std::move(seen)});
    InputSet set = decided_part(launch, seed_);
    if (!set.reference.findings.empty()) return none(recorded, set.reference.findings.front());
    add(std::move(set));
    return std::nullopt;
  }

  static ir::Launch part_of(const ir::Launch& launch, std::int64_t per_thread, std::int64_t budget) {
    return leading(launch, std::clamp<std::int64_t>(budget / per_thread, 1, kThreadSamplingThreshold));
  }

  void add(InputSet set) {
    set.is_uniform = true;
    made_.input_sets.push_back(std::move(set));
  }

  /// The set of the launch, or of as many of its first threads as take certain paths: one uncertain decision makes a
  /// whole set inconclusive. If not even the first thread does, or if there are findings, the set of the launch.
  InputSet decided_part(const ir::Launch& launch, std::uint64_t seed) const {
    std::optional<InputSet> whole;
    for (std::int64_t threads = launch.threads(); threads > 0; threads /= kFewerThreads) {
      InputSet set = evaluate_input_set(subject_, space_, {.seed = seed, .instruction_budget = kMostForRecordedSet},
                                        leading(launch, threads), profile_);
      add_alternative_paths(subject_, space_, profile_, set);
      if (!set.reference.findings.empty() || is_decided(set)) return set;
      if (!whole) whole = std::move(set);
    }
    return *std::move(whole);
  }

  bool is_decided(const InputSet& set) const {
    return std::ranges::all_of(kBothPrecisions, [&](Precision precision) {
      return subject_.adjoint != nullptr ? set.has_conclusive_gradient(precision) : set.is_conclusive(precision);
    });
  }

  /// Adds the most conclusive of a few copies for which the kernel is well defined.
  void add_perturbed(std::size_t s) {
    const std::size_t from = s % recorded_.size();
    const ir::Launch base = part_of(recorded_[from].launch, per_thread_[from], kPerturbedSetBudget);
    Rng rng(seed_ * 0x9E3779B97F4A7C15U + s);
    std::optional<InputSet> best;
    double amplitude = (s - recorded_.size()) % 2 == 0 ? 1 : kLocal;
    for (int draw = 0; draw < kPerturbations; ++draw, amplitude *= kCloser) {
      InputSet set = decided_part(perturbed(base, rng, amplitude), seed_ + s);
      if (!set.reference.findings.empty() || space_.is_degenerate(set.reference)) continue;
      if (!best || conclusiveness(set) > conclusiveness(*best)) best = std::move(set);
      if (conclusiveness(*best) >= kSufficientConclusiveness) break;
    }
    if (best) add(*std::move(best));
  }

  ir::Launch perturbed(ir::Launch launch, Rng& rng, double amplitude) const {
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      if (!space_.uninitialized()[p]) perturb(launch, p, rng, amplitude);
    }
    return launch;
  }

  void perturb(ir::Launch& launch, std::size_t p, Rng& rng, double amplitude) const {
    ir::Argument& argument = launch.arguments[p];
    const std::vector<ir::ScalarComponent> components = ir::scalar_components(subject_.module, argument.type.element());
    const std::int64_t count = ir::element_count(argument);
    const auto at = [&](std::int64_t element, const ir::ScalarComponent& component) {
      return argument.bytes.data() + ir::element_offset(argument, element) + component.offset;
    };
    const auto integers = space_.integer_range(p, launch);
    for (const ir::ScalarComponent& component : components) {
      if (!ir::is_float(component.scalar)) {
        if (!integers || integers->first > integers->second || component.scalar == ir::Scalar::kBool) continue;
        for (std::int64_t e = 0; e < count; ++e)
          ir::write_integer(component.scalar, at(e, component), rng.uniform_int(integers->first, integers->second));
        continue;
      }
      ValueRange range;
      for (std::int64_t e = 0; e < count; ++e)
        range.add(ir::read_float(component.scalar, at(e, component)));
      range = range.widened();
      const double width = amplitude * (range.high - range.low);
      for (std::int64_t e = 0; e < count; ++e) {
        const double value = ir::read_float(component.scalar, at(e, component));
        if (!std::isfinite(value)) continue;
        const double low = std::max(range.low, value - width), high = std::min(range.high, value + width);
        ir::write_float(component.scalar, at(e, component), rng.uniform_real(low, high));
      }
    }
  }

  const KernelUnderTest& subject_;
  const InputSpace& space_;
  std::span<const RecordedLaunch> recorded_;
  const JudgingPolicy& policy_;
  const reference::ArithmeticProfile& profile_;
  std::uint64_t seed_;
  std::vector<std::int64_t> per_thread_;  ///< by recorded launch: instructions of a thread
  std::size_t components_ = 0;            ///< of all arguments of the largest launch
  RecordedSets made_;
};

}  // namespace

std::string digest_of(std::span<const RecordedLaunch> launches) {
  std::string text;
  for (const RecordedLaunch& recorded : launches) {
    text += fmt::format("{} ({})\n", recorded.file_name, fmt::join(recorded.launch.extents, ", "));
    for (const ir::Argument& argument : recorded.launch.arguments) {
      text += fmt::format("({}) {}\n", fmt::join(argument.shape, ", "), argument.bytes.size());
      text.append(reinterpret_cast<const char*>(argument.bytes.data()), argument.bytes.size());
    }
  }
  return sha256_hex(text);
}

std::variant<RecordedSets, InputDrawFailure> make_recorded_sets(const KernelUnderTest& subject, const InputSpace& space,
                                                                std::span<const RecordedLaunch> recorded,
                                                                const JudgingPolicy& policy,
                                                                const reference::ArithmeticProfile& profile,
                                                                std::uint64_t seed) {
  return RecordedSetDrawer(subject, space, recorded, policy, profile, seed).draw();
}

}  // namespace assay::harness
