#include "harness/judge/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ir/types/type.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::BranchPoint;
using reference::ReferenceResult;

/// Drawn inputs, and their number if some choice is the same in all of them but not in other launches.
constexpr int kCandidates = 12, kMostCandidates = 48;
/// Extent of the arrays in the additional inputs.
constexpr std::int32_t kLongerExtent = 13;
/// Pairs of candidates tried for each choice.
constexpr std::size_t kPairs = 3;
/// The same if only the integers of one parameter are moved. In many pairs, that does not change the choice.
constexpr std::size_t kPairsOfOneParameter = 12;
/// Lines along which the floats of one parameter shrink end at the floats times this factor.
constexpr double kShrinkage = 0.125;
/// Limits for each choice: crossings on such lines, candidates, and candidates with the same result of the choice.
constexpr std::size_t kShrinkingCrossings = 3, kShrinkingCandidates = 6, kShrinkingCandidatesOfOneBranch = 3;
/// Crossings for each choice, at most.
constexpr int kRounds = 2;
/// Bisection steps for integers: enough for all 32-bit values.
constexpr int kIntegerSteps = 34;
/// Instruction budgets of the oracle: for one evaluation, and in total.
constexpr std::int64_t kRunBudget = 20'000, kTotalBudget = 400'000;
/// The same for all shrinking lines, in total.
constexpr std::int64_t kShrinkingBudget = 1'000'000;

enum class Moved : std::uint8_t { kFloats, kIntegersAndBools };

using Taken = std::array<std::int64_t, 3>;

/// A hash of all integers and bools that a launch stored.
std::int64_t hash_of_integers(const ReferenceResult& reference) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::int64_t value) {
    // The prime of the FNV-1a hash.
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001B3;
  };
  for (const auto& output : reference.outputs) {
    if (!output) continue;
    for (const reference::OutputElement& element : output->elements) {
      if (element.is_written) add(element.integer);
    }
  }
  return static_cast<std::int64_t>(hash);
}

/// The result of a choice. The number after the last branch point stands for all integer results together: they also
/// change at thresholds without a branch point, such as those of a conversion to an integer.
Taken taken(const ReferenceResult& reference, std::size_t choice) {
  if (choice == reference.branch_points.size()) return {hash_of_integers(reference)};
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

  void draw_candidates(std::uint64_t seed, const std::vector<BranchPoint>& known) {
    static constexpr Distribution kOf[] = {Distribution::kUniform, Distribution::kTiedValues, Distribution::kUniform,
                                           Distribution::kNearBounds};
    for (int k = 0; k < kMostCandidates && spent_ < kTotalBudget; ++k) {
      if (k >= kCandidates && !misses_difference(known)) break;
      auto drawn = space_.draw({.seed = (seed + static_cast<std::uint64_t>(k)) * 64 + 63,
                                .distribution = kOf[static_cast<std::size_t>(k) % std::size(kOf)],
                                .size = 1,
                                // Integers that may be indices are below the extents of the arrays.
                                .array_extent = k < kCandidates ? 0 : kLongerExtent,
                                .instruction_budget = kRunBudget},
                               [](reference::OracleRun& run) { run.reports_only_accessed_elements = true; });
      auto* one = std::get_if<DrawnLaunch>(&drawn);
      if (one == nullptr) return;
      spent_ += one->reference.instructions;
      candidates_.push_back(std::move(*one));
    }
  }

  /// The branch points, and the integer results.
  std::size_t choices() const {
    return candidates_.empty() ? 0 : candidates_.front().reference.branch_points.size() + 1;
  }

  std::optional<Crossing> crossing(std::size_t choice) {
    const auto pairs = differing_candidates(choice, kPairs);
    for (const auto& [a, b] : pairs) {
      if (auto found = between(*a, b->launch, choice, Moved::kFloats)) return found;
    }
    // If all integers move at once, the choice may change because the kernel reads another element, far from the
    // threshold. So those of one parameter are moved first.
    for (const auto& [a, b] : differing_candidates(choice, kPairsOfOneParameter)) {
      for (std::size_t p = 0; p < a->launch.arguments.size(); ++p) {
        if (moved_alone_.contains({choice, p})) continue;
        auto found = between(*a, b->launch, choice, Moved::kIntegersAndBools, p);
        if (!found) continue;
        moved_alone_.emplace(choice, p);
        return found;
      }
    }
    for (const auto& [a, b] : pairs) {
      if (auto found = between(*a, b->launch, choice, Moved::kIntegersAndBools)) return found;
    }
    return std::nullopt;
  }

  /// Crossings on lines along which the floats of one parameter shrink. Vectors keep their directions on such a line,
  /// so that it crosses thresholds of distances. Other lines are more likely to cross a threshold of directions.
  std::vector<Crossing> shrinking_crossings(std::size_t choice) {
    std::vector<Crossing> found;
    for (std::size_t p = 0; p < space_.parameter_uses().size(); ++p) {
      if (!space_.parameter_uses()[p].read || space_.limits_floats(p)) continue;
      for (const DrawnLaunch* const from : candidates_of_each_branch(choice)) {
        if (found.size() == kShrinkingCrossings) return found;
        auto crossing = between(*from, shrunk(from->launch, p), choice, Moved::kFloats, p);
        if (!crossing) continue;
        found.push_back(*std::move(crossing));
        break;
      }
    }
    return found;
  }

  void extend_budget(std::int64_t instructions) { budget_ += instructions; }
  void turn_candidates() { std::ranges::reverse(candidates_); }

 private:
  /// Whether all candidates agree in a choice that has several results in `known`.
  [[nodiscard]] bool misses_difference(const std::vector<BranchPoint>& known) const {
    for (std::size_t c = 0; c < std::min(known.size(), choices()); ++c) {
      const auto taken_branches = [](std::int64_t count) { return count > 0; };
      if (std::ranges::count_if(known[c].branch_counts, taken_branches) < 2) continue;
      const Taken first = taken(candidates_.front().reference, c);
      if (std::ranges::all_of(candidates_, [&](const DrawnLaunch& one) { return taken(one.reference, c) == first; }))
        return true;
    }
    return false;
  }

  /// Candidates for shrinking lines that differ in the result of the choice, if there are such.
  std::vector<const DrawnLaunch*> candidates_of_each_branch(std::size_t choice) const {
    std::map<Taken, std::size_t> counts;
    std::vector<const DrawnLaunch*> chosen;
    for (const DrawnLaunch& candidate : candidates_) {
      if (chosen.size() == kShrinkingCandidates) break;
      if (counts[taken(candidate.reference, choice)]++ < kShrinkingCandidatesOfOneBranch) chosen.push_back(&candidate);
    }
    return chosen;
  }

  using Pair = std::pair<const DrawnLaunch*, const DrawnLaunch*>;

  /// Pairs of candidates that differ in `choice`, at most `most`. Pairs that agree in all earlier choices come first:
  /// the line between others may cross only the threshold of an earlier choice. In 'inside = x > 0 and x < 1', all
  /// choices that depend on 'inside' change at 0, but only the line between two positive inputs crosses 1.
  std::vector<Pair> differing_candidates(std::size_t choice, std::size_t most) const {
    std::vector<Pair> preferred, others;
    for (std::size_t a = 0; a < candidates_.size(); ++a) {
      for (std::size_t b = a + 1; b < candidates_.size(); ++b) {
        const ReferenceResult &first = candidates_[a].reference, &second = candidates_[b].reference;
        if (taken(first, choice) == taken(second, choice)) continue;
        (is_equal_before(choice, first, second) ? preferred : others).emplace_back(&candidates_[a], &candidates_[b]);
      }
    }
    preferred.insert(preferred.end(), others.begin(), others.end());
    if (preferred.size() > most) preferred.resize(most);
    return preferred;
  }

  /// The launch with all floats of the parameter multiplied by kShrinkage.
  Launch shrunk(Launch launch, std::size_t parameter) const {
    Argument& argument = launch.arguments[parameter];
    const std::vector<ScalarComponent> components = scalar_components(module_, argument.type.element());
    for (std::int64_t e = 0; e < element_count(argument); ++e) {
      for (const ScalarComponent& component : components) {
        if (!is_float(component.scalar)) continue;
        std::byte* const at = argument.bytes.data() + element_offset(argument, e) + component.offset;
        write_float(component.scalar, at, kShrinkage * read_float(component.scalar, at));
      }
    }
    return launch;
  }

  std::optional<Taken> taken_at(const Launch& launch, std::size_t choice) {
    if (spent_ > budget_) return std::nullopt;
    const ReferenceResult reference = oracle_.evaluate({.launch = launch,
                                                        .uninitialized = space_.uninitialized(),
                                                        .reports_only_accessed_elements = true,
                                                        .instruction_budget = kRunBudget});
    spent_ += reference.instructions;
    if (!reference.is_complete || !reference.findings.empty()) return std::nullopt;
    return taken(reference, choice);
  }

  /// Interpolates from `a` toward `b` by `share`, all parameters or only number `only`. Empty if their arrays differ in
  /// shape, or if there is nothing to move.
  std::optional<Launch> mixed(const Launch& a, const Launch& b, double share, Moved moved,
                              std::optional<std::size_t> only) const {
    if (a.extents != b.extents) return std::nullopt;
    Launch mixed = a;
    bool moves_any = false;
    for (std::size_t p = 0; p < a.arguments.size(); ++p) {
      Argument& argument = mixed.arguments[p];
      if (argument.shape != b.arguments[p].shape) return std::nullopt;
      if (only && p != *only) continue;
      const std::vector<ScalarComponent> components = scalar_components(module_, argument.type.element());
      if (std::ranges::none_of(components,
                               [&](const ScalarComponent& component) { return moves(component.scalar, moved); }))
        continue;
      moves_any = true;
      for (std::int64_t e = 0; e < element_count(argument); ++e) {
        for (const ScalarComponent& component : components) {
          const std::size_t at = element_offset(argument, e) + component.offset;
          mix(component.scalar, argument.bytes.data() + at, b.arguments[p].bytes.data() + at, share, moved);
        }
      }
    }
    return moves_any ? std::optional(std::move(mixed)) : std::nullopt;
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

  std::optional<Crossing> between(const DrawnLaunch& from, const Launch& to, std::size_t choice, Moved moved,
                                  std::optional<std::size_t> only = std::nullopt) {
    const Taken here = taken(from.reference, choice);
    std::optional<Launch> end = mixed(from.launch, to, 1, moved, only);
    const auto there = end ? taken_at(*end, choice) : std::nullopt;
    if (!there || *there == here) return std::nullopt;
    ThresholdPair pair{from.launch, *std::move(end)};
    Crossing crossing;
    const auto keep = [&] { crossing.insert(crossing.begin(), pair); };
    const int steps = moved == Moved::kFloats ? kThresholdExponents[0] : kIntegerSteps;
    double low = 0, high = 1;
    for (int step = 1; step <= steps; ++step) {
      const double middle = 0.5 * (low + high);
      std::optional<Launch> launch = mixed(from.launch, to, middle, moved, only);
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
  /// Choices with a crossing for which the integers of one parameter were moved, and this parameter.
  std::set<std::pair<std::size_t, std::size_t>> moved_alone_;
  /// Executed instructions of the oracle, and their limit.
  std::int64_t spent_ = 0, budget_ = kTotalBudget;
};

}  // namespace

std::vector<Crossing> find_threshold_crossings(const Module& module, const reference::Oracle& oracle, InputSpace& space,
                                               std::uint64_t seed, int most, const std::vector<BranchPoint>& known) {
  Search search(module, oracle, space);
  if (most > 0) search.draw_candidates(seed, known);
  std::vector<Crossing> found;
  // A choice may have two thresholds, such as a range check: other inputs are likely to cross the other one.
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t c = 0; c < search.choices() && found.size() < static_cast<std::size_t>(most); ++c) {
      if (auto crossing = search.crossing(c)) found.push_back(*std::move(crossing));
    }
    search.turn_candidates();
  }
  search.extend_budget(kShrinkingBudget);
  for (std::size_t c = 0; c < search.choices(); ++c) {
    for (Crossing& crossing : search.shrinking_crossings(c)) {
      if (found.size() == static_cast<std::size_t>(most)) return found;
      found.push_back(std::move(crossing));
    }
  }
  return found;
}

}  // namespace assay::harness
