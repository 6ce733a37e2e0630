#include "harness/judge/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ir/types/type.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::BranchPoint;
using reference::ReferenceResult;

constexpr int kCandidates = 12;
/// Pairs of candidates tried for each choice.
constexpr std::size_t kPairs = 3;
/// Crossings for each choice, at most.
constexpr int kRounds = 2;
/// Bisection steps for integers: enough for all 32-bit values.
constexpr int kIntegerSteps = 34;
/// Instruction budgets of the oracle: for one evaluation, and in total.
constexpr std::int64_t kRunBudget = 20'000, kTotalBudget = 400'000;

enum class Moved : std::uint8_t { kFloats, kIntegersAndBools };

using Taken = std::array<std::int64_t, 3>;

Taken taken(const ReferenceResult& reference, std::size_t choice) {
  return reference.branch_points[choice].branch_counts;
}

bool is_equal_before(std::size_t choice, const ReferenceResult& a, const ReferenceResult& b) {
  std::size_t same = 0;
  while (same < choice && taken(a, same) == taken(b, same))
    ++same;
  return same == choice;
}

class Search {
 public:
  Search(const Module& module, const reference::Oracle& oracle, InputSpace& space)
      : module_(module), oracle_(oracle), space_(space) {}

  void draw_candidates(std::uint64_t seed) {
    static constexpr Distribution kOf[] = {Distribution::kUniform, Distribution::kTiedValues, Distribution::kUniform,
                                           Distribution::kNearBounds};
    for (int k = 0; k < kCandidates && spent_ < kTotalBudget; ++k) {
      auto drawn = space_.draw({.seed = (seed + static_cast<std::uint64_t>(k)) * 64 + 63,
                                .distribution = kOf[static_cast<std::size_t>(k) % std::size(kOf)],
                                .size = 1,
                                .instruction_budget = kRunBudget},
                               [](reference::OracleRun& run) { run.reports_only_accessed_elements = true; });
      auto* one = std::get_if<DrawnLaunch>(&drawn);
      if (one == nullptr) return;
      spent_ += one->reference.instructions;
      candidates_.push_back(std::move(*one));
    }
  }

  std::size_t choices() const { return candidates_.empty() ? 0 : candidates_.front().reference.branch_points.size(); }

  std::optional<Crossing> crossing(std::size_t choice) {
    const auto pairs = differing_candidates(choice);
    for (const Moved moved : {Moved::kFloats, Moved::kIntegersAndBools}) {
      for (const auto& [a, b] : pairs) {
        if (auto found = between(*a, b->launch, choice, moved)) return found;
      }
    }
    return std::nullopt;
  }

  void turn_candidates() { std::ranges::reverse(candidates_); }

 private:
  using Pair = std::pair<const DrawnLaunch*, const DrawnLaunch*>;

  /// Pairs of candidates that differ in `choice`, at most kPairs. Pairs that agree in all earlier choices come first:
  /// the line between others may cross only the threshold of an earlier choice. In 'inside = x > 0 and x < 1', all
  /// choices that depend on 'inside' change at 0, but only the line between two positive inputs crosses 1.
  std::vector<Pair> differing_candidates(std::size_t choice) const {
    std::vector<Pair> preferred, others;
    for (std::size_t a = 0; a < candidates_.size(); ++a) {
      for (std::size_t b = a + 1; b < candidates_.size(); ++b) {
        const ReferenceResult &first = candidates_[a].reference, &second = candidates_[b].reference;
        if (taken(first, choice) == taken(second, choice)) continue;
        (is_equal_before(choice, first, second) ? preferred : others).emplace_back(&candidates_[a], &candidates_[b]);
      }
    }
    preferred.insert(preferred.end(), others.begin(), others.end());
    if (preferred.size() > kPairs) preferred.resize(kPairs);
    return preferred;
  }

  std::optional<Taken> taken_at(const Launch& launch, std::size_t choice) {
    if (spent_ > kTotalBudget) return std::nullopt;
    const ReferenceResult reference = oracle_.evaluate({.launch = launch,
                                                        .uninitialized = space_.uninitialized(),
                                                        .reports_only_accessed_elements = true,
                                                        .instruction_budget = kRunBudget});
    spent_ += reference.instructions;
    if (!reference.is_complete || !reference.findings.empty()) return std::nullopt;
    return taken(reference, choice);
  }

  /// Interpolates from `a` toward `b` by `share`. Empty if their arrays differ in shape.
  std::optional<Launch> mixed(const Launch& a, const Launch& b, double share, Moved moved) const {
    if (a.extents != b.extents) return std::nullopt;
    Launch mixed = a;
    for (std::size_t p = 0; p < a.arguments.size(); ++p) {
      Argument& argument = mixed.arguments[p];
      if (argument.shape != b.arguments[p].shape) return std::nullopt;
      const std::vector<ScalarComponent> components = scalar_components(module_, argument.type.element());
      if (std::ranges::none_of(components,
                               [&](const ScalarComponent& component) { return moves(component.scalar, moved); }))
        continue;
      for (std::int64_t e = 0; e < element_count(argument); ++e) {
        for (const ScalarComponent& component : components) {
          const std::size_t at = element_offset(argument, e) + component.offset;
          mix(component.scalar, argument.bytes.data() + at, b.arguments[p].bytes.data() + at, share, moved);
        }
      }
    }
    return mixed;
  }

  static bool moves(Scalar scalar, Moved moved) {
    return moved == Moved::kFloats ? is_float(scalar) : is_integer(scalar) || scalar == Scalar::kBool;
  }

  static void mix(Scalar scalar, std::byte* at, const std::byte* other, double share, Moved moved) {
    if (!moves(scalar, moved)) return;
    if (moved == Moved::kFloats) {
      const double from = read_float(scalar, at);
      write_float(scalar, at, from + share * (read_float(scalar, other) - from));
    } else {
      const auto from = static_cast<double>(read_integer(scalar, at));
      const auto to = static_cast<double>(read_integer(scalar, other));
      write_integer(scalar, at, static_cast<std::int64_t>(std::round(from + share * (to - from))));
    }
  }

  std::optional<Crossing> between(const DrawnLaunch& from, const Launch& to, std::size_t choice, Moved moved) {
    const Taken here = taken(from.reference, choice);
    std::optional<Launch> end = mixed(from.launch, to, 1, moved);
    const auto there = end ? taken_at(*end, choice) : std::nullopt;
    if (!there || *there == here) return std::nullopt;
    ThresholdPair pair{from.launch, *std::move(end)};
    Crossing crossing;
    const auto keep = [&] { crossing.insert(crossing.begin(), pair); };
    const int steps = moved == Moved::kFloats ? kThresholdExponents[0] : kIntegerSteps;
    double low = 0, high = 1;
    for (int step = 1; step <= steps; ++step) {
      const double middle = 0.5 * (low + high);
      std::optional<Launch> launch = mixed(from.launch, to, middle, moved);
      const auto now = taken_at(*launch, choice);
      if (!now) return std::nullopt;
      (*now == here ? low : high) = middle;
      (*now == here ? pair.before : pair.after) = *std::move(launch);
      if (moved == Moved::kFloats && std::ranges::count(kThresholdExponents, step) > 0) keep();
    }
    if (moved == Moved::kIntegersAndBools) keep();
    return crossing;
  }

  const Module& module_;
  const reference::Oracle& oracle_;
  InputSpace& space_;
  std::vector<DrawnLaunch> candidates_;
  std::int64_t spent_ = 0;
};

}  // namespace

std::vector<Crossing> find_threshold_crossings(const Module& module, const reference::Oracle& oracle, InputSpace& space,
                                               std::uint64_t seed, int most) {
  Search search(module, oracle, space);
  if (most > 0) search.draw_candidates(seed);
  std::vector<Crossing> found;
  // A choice may have two thresholds, such as a range check: other inputs are likely to cross the other one.
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t c = 0; c < search.choices() && found.size() < static_cast<std::size_t>(most); ++c) {
      if (auto crossing = search.crossing(c)) found.push_back(*std::move(crossing));
    }
    search.turn_candidates();
  }
  return found;
}

}  // namespace assay::harness
