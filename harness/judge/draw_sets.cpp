#include "harness/judge/draw_sets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "harness/judge/candidate_sets.hpp"
#include "harness/judge/coverage.hpp"
#include "harness/judge/custom_replay.hpp"
#include "harness/judge/paths.hpp"
#include "harness/judge/thresholds.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::ComponentValues;
using reference::ReferenceResult;

constexpr std::uint64_t kSeedSalt = 0x5EED, kInitialGradientSalt = 0xF111;

/// Instruction budgets of the oracle: target for one set, limit for one set, and total for redraws.
constexpr std::int64_t kSetBudget = 400'000, kMostForSet = 25 * kSetBudget, kRedrawBudget = 4 * kSetBudget;
/// Extents of the first dimension: not multiples of a block, and around one block. Loops over as many elements as there
/// are threads once exceed the number of checkpoints of an adjoint.
constexpr std::int32_t kSizes[] = {13, 31, 32, 33, 1, 47, 17, 23, 19, 29};

/// Numbers of the draws of the first set whose arrays are shorter or longer than the launch, of the first one in which
/// one dimension of each array is one element short, of the first one with NaN and infinities, and of the first one
/// with larger floats: their seeds differ from those of other sets.
constexpr int kOtherExtentsDraw = 900, kShortDimensionDraw = 1'000, kNonfiniteFloatsDraw = 1'300,
              kLargerFloatsDraw = 1'400;
/// Number of sets with NaN and infinities. A branch is covered if it is taken in two sets.
constexpr int kNonfiniteFloatSets = 2;

/// Factor on the number of redraws for branches as long as no set stores a value: nothing else can be judged then.
constexpr int kRedrawFactorWithoutStores = 8;

/// Elements of all arrays of a set: the oracle's results for many sets are in memory at once.
constexpr std::int64_t kMostElements = 1 << 20;

/// For the set with long rows: few threads, and more loop trips than an adjoint has checkpoints.
constexpr double kConclusiveBound = 0x1p-10, kNarrow = 0.9;
/// The greatest share of results without a bound in a set with other values or shapes.
constexpr double kMostUnbounded = 0.05;
constexpr std::int32_t kLongRow = 79, kLongRowSize = 5;

ComponentValues dense(const KernelUnderTest& subject, const Launch& launch, std::uint64_t salt, bool written) {
  ComponentValues values(launch.arguments.size());
  for (std::size_t p = 0; p < values.size(); ++p) {
    if (subject.writes(p) != written) continue;
    values[p].resize(component_count(subject, launch.arguments[p]));
    const auto components = scalar_components(subject.module, launch.arguments[p].type.element());
    for (std::size_t i = 0; i < values[p].size(); ++i) {
      // Ten bits are more than a bf16 has.
      const bool is_short = components[i % components.size()].scalar == Scalar::kBF16;
      const double value = dense_value(i + 37 * p, salt);
      values[p][i] = is_short ? round_to(Scalar::kBF16, value) : value;
    }
  }
  return values;
}

/// Initial gradients stay well within the range of their type: between 2^-limit and 2^limit.
int initial_gradient_exponent(Scalar scalar) { return scalar == Scalar::kF16 ? 10 : 100; }

/// Dense values scaled to the gradient that will be added, so that neither hides the other.
ComponentValues initial_gradients_for(const KernelUnderTest& subject, const InputSet& set) {
  ComponentValues values = dense(subject, set.launch_by_precision[Precision::kNative], kInitialGradientSalt, false);
  for (std::size_t p = 0; p < values.size(); ++p) {
    const auto& gradient = set.reference.gradients[p];
    if (!gradient) continue;
    const auto components =
        scalar_components(subject.module, set.launch_by_precision[Precision::kNative].arguments[p].type.element());
    for (std::size_t i = 0; i < values[p].size(); ++i) {
      const auto size = static_cast<double>(std::abs(gradient->elements[i].value));
      if (size == 0 || !std::isfinite(size)) continue;
      const int limit = initial_gradient_exponent(components[i % components.size()].scalar);
      values[p][i] = std::ldexp(values[p][i], std::clamp(std::ilogb(size), -limit, limit));
    }
  }
  return values;
}

double mean_of_inputs(const KernelUnderTest& subject, const Launch& launch) {
  double sum = 0;
  double count = 0;
  for (const Argument& argument : launch.arguments) {
    const auto components = scalar_components(subject.module, argument.type.element());
    for (std::int64_t e = 0; e < element_count(argument); ++e) {
      for (const ScalarComponent& component : components) {
        if (!is_float(component.scalar)) continue;
        sum += read_float(component.scalar, argument.bytes.data() + element_offset(argument, e) + component.offset);
        count += 1;
      }
    }
  }
  return count > 0 ? sum / count : 0;
}

/// Share of the gradient's elements whose native bound is narrow enough.
double informative_share(const InputSet& set) {
  const ReferenceResult& reference = set.reference;
  double informative = 0;
  double total = 0;
  for (const auto& gradient : reference.gradients) {
    if (!gradient) continue;
    for (const auto& element : gradient->elements) {
      total += 1;
      informative += is_informative(
          {.value = element.value,
           .bound = element.bound[Precision::kNative],
           .informative_bound_scale = scale_of(element, Precision::kNative) * set.informative_bound_factor});
    }
  }
  return total > 0 ? informative / total : 1;
}

/// Share of the written floats whose f64 bound is narrow relative to the value.
double narrow_share(const ReferenceResult& run) {
  double narrow = 0;
  double total = 0;
  for (const auto& output : run.outputs) {
    if (!output) continue;
    for (const reference::OutputElement& element : output->elements) {
      if (!element.is_written) continue;
      total += 1;
      narrow += element.bound[Precision::kPromoted] <= kConclusiveBound * std::abs(static_cast<double>(element.value));
    }
  }
  return total > 0 ? narrow / total : 1;
}

/// Whether all decisions are certain, in both precisions.
bool is_certain(const ReferenceResult& run) {
  return std::ranges::all_of(
      kBothPrecisions, [&](Precision precision) { return run.decisions.uncertain_decision_counts[precision] == 0; });
}

/// Whether any thread stores a value; a set for which all threads return early is useless.
bool writes_anything(const ReferenceResult& reference) {
  return std::any_of(reference.outputs.begin(), reference.outputs.end(), [](const auto& output) {
    return output && std::any_of(output->elements.begin(), output->elements.end(),
                                 [](const reference::OutputElement& element) { return element.is_written; });
  });
}

/// Redrawing stops after this many draws without improvement.
constexpr double kAcceptableConclusiveness = 6 + 0.9;
constexpr int kPatientDraws = 4;

/// A launch of one thread, to estimate the cost of larger launches. If it exceeds the budget of a set many times over,
/// the kernel is assumed to be endless.
std::variant<DrawnLaunch, InputDrawFailure> probe(InputSpace& space, std::uint64_t seed) {
  constexpr std::int64_t kThreadBudget = 10 * kSetBudget;
  return space.draw({.seed = seed, .size = 1, .instruction_budget = kThreadBudget},
                    [](reference::OracleRun& run) { run.reports_only_accessed_elements = true; });
}

bool is_endless(const std::variant<DrawnLaunch, InputDrawFailure>& probe) {
  const auto* none = std::get_if<InputDrawFailure>(&probe);
  return none != nullptr && none->finding && none->finding->kind == reference::Finding::Kind::kInstructionLimit;
}

/// The greatest extent at which the oracle runs no more than kSetBudget instructions.
std::int32_t affordable_size(const std::variant<DrawnLaunch, InputDrawFailure>& probe) {
  const auto* drawn = std::get_if<DrawnLaunch>(&probe);
  if (drawn == nullptr) return kSizes[0];
  const std::int64_t per_thread =
      drawn->reference.instructions / std::max<std::int64_t>(drawn->launch.threads(), 1) + 1;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(kSetBudget / per_thread, 1, 1'000));
}

/// Completes a run with everything except its launch. Returns the cotangents, which are also the set's.
ComponentValues complete(const KernelUnderTest& subject, reference::OracleRun& run,
                         const reference::ArithmeticProfile& profile, bool gradient) {
  run.profile = profile;
  run.computes_gradient = gradient;
  run.cotangents = dense(subject, run.launch, kSeedSalt, true);
  return run.cotangents;
}

InputSet made(const KernelUnderTest& subject, const DrawRequest& request, DrawnLaunch drawn, ComponentValues cotangents,
              bool gradient) {
  InputSet set;
  set.cotangents = std::move(cotangents);
  set.request = request;
  set.is_uniform = request.distribution == Distribution::kUniform;
  set.launch_by_precision[Precision::kNative] = std::move(drawn.launch);
  set.launch_by_precision[Precision::kPromoted] = promoted(subject.module, set.launch_by_precision[Precision::kNative]);
  set.reference = std::move(drawn.reference);
  if (gradient) set.initial_gradients = initial_gradients_for(subject, set);
  set.informative_bound_factor = informative_bound_factor_of(subject);
  set.input_mean = mean_of_inputs(subject, set.launch_by_precision[Precision::kNative]);
  return set;
}

/// Draws the sets of one judgment.
class SetDrawer {
 public:
  SetDrawer(const KernelUnderTest& subject, InputSpace& space, const JudgingPolicy& policy,
            const reference::ArithmeticProfile& profile, std::uint64_t seed)
      : subject_(subject), space_(space), policy_(policy), profile_(profile), seed_(seed) {}

  std::variant<std::vector<InputSet>, InputDrawFailure> draw() {
    auto first = probe(space_, seed_);
    if (is_endless(first)) return std::get<InputDrawFailure>(std::move(first));
    largest_ = affordable_size(first);
    for (int s = 0; s < policy_.input_sets(); ++s) {
      auto best = draw_best(s);
      if (auto* none = std::get_if<InputDrawFailure>(&best)) return std::move(*none);
      sets_.push_back(std::get<InputSet>(std::move(best)));
      add_alternative_paths(subject_, space_, profile_, sets_.back());
    }
    if (has_atomics(space_.parameter_uses())) add_exact();
    if (has_loops()) add_long();
    if (is_candidate()) add_sets_for_candidates();
    cover();
    add_threshold_pairs();
    return std::move(sets_);
  }

 private:
  /// Whether the sets are for code that may use another algorithm than the kernel.
  [[nodiscard]] bool is_candidate() const { return harness::is_candidate(profile_); }

  Distribution distribution_of(int set) const {
    if (set < policy_.uniform_input_sets) return Distribution::kUniform;
    return set < policy_.uniform_input_sets + policy_.near_bound_input_sets ? Distribution::kNearBounds
                                                                            : Distribution::kWideMagnitudes;
  }

  DrawRequest request(int set, int draw, Distribution distribution) const {
    return {.seed = (seed_ + static_cast<std::uint64_t>(draw) * 1000) * 64 + static_cast<std::uint64_t>(set),
            .distribution = distribution,
            .size = std::min(kSizes[static_cast<std::size_t>(set) % std::size(kSizes)], largest_),
            .instruction_budget = kMostForSet,
            .max_elements = kMostElements};
  }

  std::variant<InputSet, InputDrawFailure> draw_best(int s) {
    std::optional<InputSet> best;
    std::optional<InputDrawFailure> none;
    std::int64_t spent = 0;
    for (int draw = 0; draw <= policy_.max_redraws_per_input_set && !(none && !best); ++draw) {
      auto result = draw_one(request(s, draw, distribution_of(s)));
      if (auto* nothing = std::get_if<InputDrawFailure>(&result)) {
        none = std::move(*nothing);
        continue;
      }
      auto& set = std::get<InputSet>(result);
      spent += set.reference.instructions;
      if (!best || conclusiveness(set) > conclusiveness(*best)) best = std::move(set);
      if (spent > kRedrawBudget) break;
      if (conclusiveness(*best) >= (draw < kPatientDraws ? kSufficientConclusiveness : kAcceptableConclusiveness))
        break;
    }
    if (!best) return std::move(*none);
    return std::move(*best);
  }

  std::variant<InputSet, InputDrawFailure> draw_one(const DrawRequest& request) {
    return draw_input_set(subject_, space_, request, profile_, gradient(request));
  }

  /// A set whose forward run satisfies `promises`. Only then is the gradient computed, which costs ten times as much.
  std::optional<InputSet> draw_promising(InputSpace& space, const DrawRequest& request,
                                         const std::function<bool(const DrawnLaunch&)>& promises) const {
    auto result = space.draw(request, [&](reference::OracleRun& run) {
      run.profile = profile_;
      run.reports_only_accessed_elements = true;
    });
    auto* drawn = std::get_if<DrawnLaunch>(&result);
    if (drawn == nullptr || !promises(*drawn)) return std::nullopt;
    if (space.array_extents() == ArrayExtents::kExact && !drawn->has_exact_extents) return std::nullopt;
    reference::OracleRun run = space.run_of(request, drawn->launch);
    ComponentValues cotangents = complete(subject_, run, profile_, gradient(request));
    drawn->reference = subject_.oracle.evaluate(run);
    if (!drawn->reference.is_complete) return std::nullopt;
    return made(subject_, request, std::move(*drawn), std::move(cotangents), gradient(request));
  }

  bool gradient() const { return subject_.adjoint != nullptr; }
  bool gradient(const DrawRequest& request) const { return gradient() && !request.is_for_forward_only; }
  bool is_conclusive(const InputSet& set, Precision precision) const {
    return gradient(set.request) ? set.has_conclusive_gradient(precision) : set.is_conclusive(precision);
  }
  bool is_conclusive(const InputSet& set) const {
    return std::ranges::all_of(kBothPrecisions, [&](Precision precision) { return is_conclusive(set, precision); });
  }

  /// Few distinct values that are multiples of a power of two: sums by atomics are exact in any order. Left out if no
  /// result could be compared, such as the gradient of a minimum of equal values.
  void add_exact() {
    auto result = draw_one(request(policy_.input_sets(), 0, Distribution::kTiedValues));
    auto* set = std::get_if<InputSet>(&result);
    if (set != nullptr &&
        std::ranges::any_of(kBothPrecisions, [&](Precision precision) { return is_conclusive(*set, precision); }))
      sets_.push_back(std::move(*set));
  }

  bool has_while() const {
    bool found = false;
    for_each_statement(subject_.kernel.body,
                       [&](const Stmt& statement) { found = found || std::holds_alternative<While>(statement.node); });
    return found;
  }

  /// Whether the kernel, or a function that it calls, has a loop. Loops inside of Warp's own functions do not count.
  bool has_loops() const {
    return has_while() || std::ranges::any_of(sets_.front().reference.branch_points, [](const auto& point) {
             return point.kind == reference::BranchPoint::Kind::kRangeLoop;
           });
  }

  /// Whether a loop of the set takes more trips per thread, on average, than an adjoint has checkpoints.
  static bool has_long_loop(const InputSet& set) {
    constexpr std::int64_t kCheckpoints = 64;
    const std::int64_t threads = set.launch_by_precision[Precision::kNative].threads();
    return std::ranges::any_of(set.reference.branch_points, [&](const reference::BranchPoint& point) {
      return point.branch_counts[0] > kCheckpoints * threads;
    });
  }

  /// Whether the run compares values, other than to end a range loop.
  static bool has_comparisons(const ReferenceResult& run) {
    return std::ranges::any_of(run.branch_points, [](const reference::BranchPoint& point) {
      return point.kind != reference::BranchPoint::Kind::kRangeLoop;
    });
  }

  /// Adds sets whose loops take many trips, if they are sufficiently conclusive.
  void add_long() {
    // A loop that ends when its values reach a limit often takes more trips with small values. One thread suffices.
    constexpr int kDraws = 6;
    const bool needs_long_loop = has_while();
    std::optional<InputSet> found;
    for (int draw = 0; draw < kDraws; ++draw) {
      auto set = draw_long(draw, draw == 0 ? Distribution::kUniform : Distribution::kWideMagnitudes);
      if (set && (!found || has_long_loop(*set))) found = std::move(set);
      if (found && (!needs_long_loop || has_long_loop(*found))) break;
    }
    if (!found) return;
    const bool may_keep_extremes = has_long_loop(*found) && has_comparisons(found->reference);
    sets_.push_back(*std::move(found));
    // A running maximum of random values hardly changes after the first trips.
    if (!may_keep_extremes) return;
    if (auto wave = draw_long(kDraws, Distribution::kWave)) sets_.push_back(*std::move(wave));
  }

  /// A set with long rows that is sufficiently conclusive, of one thread for kWideMagnitudes. `draw`: number of the
  /// draw.
  std::optional<InputSet> draw_long(int draw, Distribution distribution) const {
    DrawRequest asked = request(policy_.input_sets() + 1, draw, distribution);
    asked.size = distribution == Distribution::kWideMagnitudes ? 1 : kLongRowSize;
    asked.array_extent = kLongRow;
    asked.instruction_budget = kSetBudget;
    // Constraints learned from such long rows must not affect the other sets.
    InputSpace space = space_.trial();
    auto set = draw_promising(space, asked, [](const DrawnLaunch& drawn) {
      const ReferenceResult& run = drawn.reference;
      return is_certain(run) && writes_anything(run) && narrow_share(run) >= kNarrow;
    });
    if (!set || !is_conclusive(*set) || conclusiveness(*set) < kAcceptableConclusiveness) return std::nullopt;
    set->is_uniform = false;
    return set;
  }

  void add_sets_for_candidates() {
    const auto make_request = [this](int set, int draw, Distribution distribution) {
      return request(set, draw, distribution);
    };
    const auto add = [this](const DrawRequest& asked, const std::function<bool(const InputSet&)>& accepts) {
      return add_apart(asked, accepts);
    };
    add_candidate_sets({.subject = subject_, .space = space_, .policy = policy_, .request = make_request, .add = add});
  }

  /// As CandidateSetDrawer::add.
  bool add_apart(const DrawRequest& asked, const std::function<bool(const InputSet&)>& accepts) {
    InputSpace space = space_.trial();
    // An end of a range is often the limit of a comparison, too. Few of these have few paths.
    const bool may_be_uncertain = asked.at_ends_of_range == DrawRequest::AtEndsOfRange::kFew;
    auto set = draw_promising(space, asked, [&](const DrawnLaunch& drawn) {
      return (may_be_uncertain || is_certain(drawn.reference)) && writes_anything(drawn.reference);
    });
    if (set && may_be_uncertain) add_alternative_paths(subject_, space, profile_, *set);
    if (!set || !is_conclusive(*set) || unbounded_share(set->reference) > kMostUnbounded || !accepts(*set))
      return false;
    set->is_uniform = false;
    sets_.push_back(std::move(*set));
    return true;
  }

  /// Adds sets that cover branches not covered by the conclusive sets.
  void cover() {
    static constexpr Distribution kAround[] = {Distribution::kTiedValues, Distribution::kUniform,
                                               Distribution::kNearBounds, Distribution::kWideMagnitudes};
    BranchCoverage coverage;
    for (const InputSet& set : sets_) {
      if (is_conclusive(set)) coverage.add(set.reference.branch_points);
    }
    std::int64_t spent = 0;
    const int draws = policy_.max_redraws_per_input_set;
    for (int draw = 0; draw < draws && coverage.missing_samples() > 0 && spent < kRedrawBudget; ++draw)
      add_covering(space_, covering_request(draw, kAround[static_cast<std::size_t>(draw) % std::size(kAround)]),
                   coverage, spent);
    cover_by_other_extents(coverage);
    cover_by_larger_floats(coverage);
    if (space_.tests_finiteness()) add_nonfinite_floats(coverage);
    if (!space_.compares_constants()) return;
    // What unusual integers teach about the domain must not affect other draws.
    spent = 0;
    for (int draw = 0; draw < draws * (stores_values() ? 1 : kRedrawFactorWithoutStores) &&
                       coverage.missing_samples() > 0 && spent < kRedrawBudget;
         ++draw) {
      InputSpace space = space_.trial();
      add_covering(space, covering_request(draws + draw, Distribution::kComparedConstants), coverage, spent);
    }
  }

  /// Adds sets with floats of larger magnitudes than usual, for branches that compare floats with larger constants.
  void cover_by_larger_floats(BranchCoverage& coverage) {
    // For large values, formulas of a gradient that are equivalent to those of the kernel lose different digits.
    if (is_candidate() && gradient()) return;
    static constexpr double kScales[] = {4, 32, 1000};
    const bool has_arrays = has_free_floats(true);
    const bool has_parameters = has_free_floats(false) && !is_candidate();
    if (!has_arrays && !has_parameters) return;
    const auto is_bounded = [](const InputSet& set) {
      return unbounded_share(set.reference) <= kMostUnbounded && conclusiveness(set) >= kAcceptableConclusiveness;
    };
    std::int64_t spent = 0;
    int draws = 0;
    const auto add = [&](double of_arrays, double of_parameters) {
      if (coverage.missing_samples() == 0 || spent >= kRedrawBudget) return Addition::kWithoutGain;
      DrawRequest asked = covering_request(kLargerFloatsDraw + draws++, Distribution::kUniform);
      asked.float_scale = of_arrays;
      if (has_parameters) asked.float_parameter_scale = of_parameters;
      // What such floats teach about the domain must not affect other draws.
      InputSpace space = space_.trial();
      return add_covering(space, asked, coverage, spent, 1, is_bounded);
    };
    for (const double scale : kScales) {
      const Addition first = add(scale, scale);
      // A branch is covered if it is taken twice.
      if (first == Addition::kAdded) add(scale, scale);
      // A result may overflow if arrays and parameters are large, but not if only one of them is.
      if (first != Addition::kUnusable || !has_arrays || !has_parameters) continue;
      add(scale, 1);
      add(1, scale);
    }
  }

  /// Whether the kernel has a parameter with floats whose range is not annotated: an array, or else a value.
  [[nodiscard]] bool has_free_floats(bool in_arrays) const {
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p) {
      const Type type = subject_.kernel.var(p).type;
      const auto components = scalar_components(subject_.module, type.element());
      if (type.is_array() == in_arrays && !space_.limits_floats(static_cast<std::size_t>(p)) &&
          std::ranges::any_of(components, [](const ScalarComponent& part) { return is_float(part.scalar); }))
        return true;
    }
    return false;
  }

  /// Adds sets with NaN and infinities, unless they reach too many of the results.
  void add_nonfinite_floats(BranchCoverage& coverage) {
    for (int draw = 0; draw < kNonfiniteFloatSets; ++draw) {
      DrawRequest asked = request(policy_.input_sets(), kNonfiniteFloatsDraw + draw, Distribution::kUniform);
      asked.has_nonfinite_floats = true;
      asked.size = std::min(*std::ranges::max_element(kSizes), largest_);  // a sixth of few floats may not contain each
      if (add_apart(asked, [](const InputSet&) { return true; })) coverage.add(sets_.back().reference.branch_points);
    }
  }

  /// Adds sets in which arrays end before or after the launch does: kernels often compare their indices with extents.
  void cover_by_other_extents(BranchCoverage& coverage) {
    // The contract of a candidate may pass it one extent for several arrays.
    if (is_candidate() || space_.array_extents() != ArrayExtents::kSufficient || !space_.uses_extents()) return;
    const std::optional<CustomReplayCheck> replays = CustomReplayCheck::make(subject_);
    std::int64_t spent = 0;
    const std::vector<std::vector<std::int32_t>> accessed = accessed_extents(sets_.front());
    Rng rng(seed_);
    std::vector<bool> usual(accessed.size());
    for (std::size_t p = 0; p < usual.size(); ++p)
      usual[p] = rng.bernoulli(0.5);
    const std::size_t wanted = sets_.size() + static_cast<std::size_t>(policy_.other_extent_input_sets);
    for (int draw = 0; draw < policy_.max_redraws_per_input_set && spent < kRedrawBudget; ++draw) {
      const bool needs_coverage = coverage.missing_samples() > 0;
      if (!needs_coverage && sets_.size() >= wanted) break;
      DrawRequest asked = covering_request(kOtherExtentsDraw + draw, Distribution::kUniform);
      const bool are_greater = draw == 0;
      asked.extents_of_arrays =
          are_greater ? DrawRequest::ExtentsOfArrays::kGreater : DrawRequest::ExtentsOfArrays::kAny;
      if (!are_greater) {
        asked.size = sets_.front().request.size;
        asked.accessed_extents = accessed;
      }
      // What the missing elements of one array change must be visible in another one. So about half of the arrays are
      // changed in one set, and the others in the next.
      if (draw == 1 || draw == 2) asked.has_usual_extents = usual;
      usual.flip();
      add_by_other_extents(asked, coverage, spent, replays, needs_coverage && !are_greater ? 1 : 0);
    }
    // The draws above rarely shorten a dimension alone if arrays have many.
    constexpr std::size_t kManyDimensions = 3;
    const std::size_t rank = greatest_rank();
    if (rank < kManyDimensions || policy_.other_extent_input_sets <= 1) return;
    for (std::size_t draw = 0; draw < 2 * rank && spent < kRedrawBudget; ++draw) {
      DrawRequest asked = covering_request(kShortDimensionDraw + static_cast<int>(draw), Distribution::kUniform);
      asked.extents_of_arrays = DrawRequest::ExtentsOfArrays::kOneShort;
      asked.short_dimension = draw / 2;
      asked.size = sets_.front().request.size;
      asked.accessed_extents = accessed;
      asked.has_usual_extents = usual;
      usual.flip();
      add_by_other_extents(asked, coverage, spent, replays, 0);
    }
  }

  /// The greatest rank of an array parameter.
  [[nodiscard]] std::size_t greatest_rank() const {
    std::size_t rank = 0;
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p)
      rank = std::max<std::size_t>(rank, subject_.kernel.var(p).type.rank);
    return rank;
  }

  /// Adds a set in which the extents of arrays are not those of the launch.
  void add_by_other_extents(const DrawRequest& asked, BranchCoverage& coverage, std::int64_t& spent,
                            const std::optional<CustomReplayCheck>& replays, std::int64_t least_gain) {
    // What such a launch teaches about the extents that the kernel needs must not affect other draws.
    InputSpace space = space_.trial();
    const std::size_t count = sets_.size();
    add_covering(space, asked, coverage, spent, least_gain);
    // The array in which a function notes what its replay reads may now be too short.
    if (sets_.size() > count && replays && replays->find_change(sets_.back(), profile_, space_.uninitialized()))
      sets_.pop_back();
  }

  /// As DrawRequest::accessed_extents.
  std::vector<std::vector<std::int32_t>> accessed_extents(const InputSet& set) const {
    reference::OracleRun run = space_.run_of(set.request, set.launch_by_precision[Precision::kNative]);
    run.reports_only_accessed_elements = true;
    run.records_extents = true;
    return subject_.oracle.evaluate(run).accessed_extents;
  }

  DrawRequest covering_request(int draw, Distribution distribution) const {
    return request(policy_.input_sets() + 2 + draw, draw + 1, distribution);
  }

  /// What became of a set that should cover further branches.
  enum class Addition : std::uint8_t {
    kAdded,
    kWithoutGain,  ///< it adds no samples
    kUnusable,     ///< it may add samples, but is not conclusive
  };

  /// Adds a set if it adds at least `least_gain` samples of branches that lack samples and `accepts` returns true for
  /// it. Adds the oracle's instructions to `spent`.
  Addition add_covering(
      InputSpace& space, const DrawRequest& asked, BranchCoverage& coverage, std::int64_t& spent,
      std::int64_t least_gain = 1,
      const std::function<bool(const InputSet&)>& accepts = [](const InputSet&) { return true; }) {
    bool has_gain = true;  // of a launch for which the kernel is not well defined, nothing is known
    auto set = draw_promising(space, asked, [&](const DrawnLaunch& drawn) {
      spent += drawn.reference.instructions;
      has_gain = coverage.gain(drawn.reference.branch_points) >= least_gain;
      return has_gain && is_certain(drawn.reference);
    });
    if (!set || !is_conclusive(*set) || !accepts(*set)) return has_gain ? Addition::kUnusable : Addition::kWithoutGain;
    coverage.add(set->reference.branch_points);
    set->is_uniform = false;
    sets_.push_back(std::move(*set));
    return Addition::kAdded;
  }

  /// Whether a thread stores a value in one of the sets.
  [[nodiscard]] bool stores_values() const {
    return std::ranges::any_of(sets_, [](const InputSet& set) { return writes_anything(set.reference); });
  }

  /// Adds inputs on both sides of the kernel's thresholds, as close as both are conclusive in each precision.
  void add_threshold_pairs() {
    InputSpace space = space_.trial();
    std::vector<reference::BranchPoint> known = sets_.front().reference.branch_points;
    for (const InputSet& set : std::span(sets_).subspan(1)) {
      for (std::size_t c = 0; c < std::min(known.size(), set.reference.branch_points.size()); ++c)
        std::ranges::transform(known[c].branch_counts, set.reference.branch_points[c].branch_counts,
                               known[c].branch_counts.begin(), std::plus<>());
    }
    for (const Crossing& crossing : find_threshold_crossings(subject_.module, subject_.oracle, space, seed_,
                                                             policy_.max_tested_thresholds, known)) {
      for (const ThresholdPair& pair : crossing) {
        InputSet before = evaluate_input_set(subject_, space_, {.size = 1}, pair.before, profile_);
        InputSet after = evaluate_input_set(subject_, space_, {.size = 1}, pair.after, profile_);
        if (!is_conclusive(before) || !is_conclusive(after)) continue;
        for (InputSet* set : {&before, &after}) {
          set->is_uniform = false;
          sets_.push_back(std::move(*set));
        }
        break;
      }
    }
  }

  const KernelUnderTest& subject_;
  InputSpace& space_;
  const JudgingPolicy& policy_;
  const reference::ArithmeticProfile& profile_;
  std::uint64_t seed_;
  std::int32_t largest_ = 1;
  std::vector<InputSet> sets_;
};

}  // namespace

double conclusiveness(const InputSet& set) {
  double conclusiveness = informative_share(set) + (writes_anything(set.reference) ? 0 : -4);
  for (const Precision precision : kBothPrecisions)
    conclusiveness += 2 * set.is_conclusive(precision) + set.has_conclusive_gradient(precision);
  return conclusiveness;
}

InputSet evaluate_input_set(const KernelUnderTest& subject, const InputSpace& space, const DrawRequest& request,
                            const Launch& launch, const reference::ArithmeticProfile& profile) {
  const bool gradient = subject.adjoint != nullptr;
  reference::OracleRun run{.launch = launch};
  ComponentValues cotangents = complete(subject, run, profile, gradient);
  run.uninitialized = space.uninitialized();
  run.fixes_thread_order = space.order_dependence().has_value();
  run.instruction_budget = request.instruction_budget;
  DrawnLaunch drawn{.launch = launch, .reference = subject.oracle.evaluate(run)};
  return made(subject, request, std::move(drawn), std::move(cotangents), gradient);
}

void add_alternative_paths(const KernelUnderTest& subject, const InputSpace& space,
                           const reference::ArithmeticProfile& profile, InputSet& set) {
  const reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative],
                                 .profile = profile,
                                 .computes_gradient = subject.adjoint != nullptr,
                                 .cotangents = set.cotangents,
                                 .uninitialized = space.uninitialized()};
  for (const Precision precision : kBothPrecisions)
    set.alternative_path_results[precision] = find_alternative_paths(subject.oracle, run, set.reference, precision);
}

std::variant<InputSet, InputDrawFailure> draw_input_set(const KernelUnderTest& subject, InputSpace& space,
                                                        const DrawRequest& request,
                                                        const reference::ArithmeticProfile& profile, bool gradient) {
  ComponentValues cotangents;
  auto result =
      space.draw(request, [&](reference::OracleRun& run) { cotangents = complete(subject, run, profile, gradient); });
  if (auto* none = std::get_if<InputDrawFailure>(&result)) return std::move(*none);
  return made(subject, request, std::get<DrawnLaunch>(std::move(result)), std::move(cotangents), gradient);
}

std::variant<std::vector<InputSet>, InputDrawFailure> draw_input_sets(const KernelUnderTest& subject, InputSpace& space,
                                                                      const JudgingPolicy& policy,
                                                                      const reference::ArithmeticProfile& profile,
                                                                      std::uint64_t seed) {
  const InputSpace untaught = space;
  auto drawn = SetDrawer(subject, space, policy, profile, seed).draw();
  const auto* none = std::get_if<InputDrawFailure>(&drawn);
  if (none == nullptr || none->is_defect()) return drawn;
  // Draws with another assumption.
  const auto draw_again = [&](InputSpace other) {
    auto again = SetDrawer(subject, other, policy, profile, seed).draw();
    const bool succeeds = std::holds_alternative<std::vector<InputSet>>(again);
    if (succeeds) {
      space = std::move(other);
      drawn = std::move(again);
    }
    return succeeds;
  };
  InputSpace with_offsets = untaught;
  with_offsets.assume_offsets();
  const bool can_fix_order = none->is_order_dependence() && !is_candidate(profile);
  if (draw_again(std::move(with_offsets)) || !can_fix_order) return drawn;
  InputSpace in_order = untaught;
  in_order.fix_thread_order(std::get<InputDrawFailure>(drawn));
  draw_again(std::move(in_order));
  return drawn;
}

}  // namespace assay::harness
