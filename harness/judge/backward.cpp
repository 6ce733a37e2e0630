// Judges the backward pass against the oracle: f64_promotion, native_precision and determinism, initial gradients,
// cotangents, accumulation, controls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/approximations.hpp"
#include "harness/judge/context.hpp"
#include "harness/judge/subgradients.hpp"
#include "harness/judge/unrounded.hpp"
#include "reference/cpu/bound.hpp"

namespace assay::harness {
namespace {

/// Between these, doubling is exact in every type.
constexpr double kTiny = 1e-30, kHuge = 1e30;

class BackwardJudge {
 public:
  explicit BackwardJudge(const PassContext& pass_context)
      : pass_context_(pass_context),
        verdict_(pass_context.judgment.backward),
        roles_(roles_of(pass_context, backends::Pass::kBackward)),
        carries_cotangent_(carries_cotangent(pass_context.subject)),
        is_compared_(compared_gradients(pass_context)) {}

  void run() {
    plan();
    if (verdict_.failed()) return;
    const bool completed = run_launches(pass_context_, test_launches_, verdict_);
    compare_with_tolerances();
    if (!completed) return;
    const std::vector<std::size_t> order = checking_order(pass_context_, test_launches_);
    for (const std::size_t t : order)
      check_memory(pass_context_, test_launches_[t], verdict_);
    for (const std::size_t t : order)
      check(t);
    count_sets();
    const std::map<std::size_t, std::uint32_t> approximations = executed_approximations(pass_context_, test_launches_);
    if (!verdict_.failed()) check_addresses_again();
    if (!verdict_.failed() && !approximations.empty()) check_with_documented_errors(approximations);
  }

 private:
  using ExpectedGradients = std::vector<std::vector<ExpectedScalar>>;

  void add(LaunchPurpose purpose, std::size_t set, Precision precision, InitialGradient start, double cotangent_factor,
           const LaunchSettings& geometry = {}) {
    if (verdict_.failed() || !pass_context_.uses_precision(precision)) return;
    if (auto placed = place(purpose, set, precision, start, cotangent_factor, geometry, verdict_))
      test_launches_.push_back(std::move(*placed));
  }

  /// Places a launch; if that is impossible, reports the reason in `verdict` and returns nullopt.
  std::optional<TestLaunch> place(LaunchPurpose purpose, std::size_t set, Precision precision, InitialGradient start,
                                  double cotangent_factor, const LaunchSettings& geometry, PassVerdict& verdict) {
    const auto [found, is_new] = launches_.try_emplace({set, precision});
    if (is_new) found->second = make_backward_launch(pass_context_, set, precision, verdict);
    if (!found->second) return std::nullopt;
    Result<KernelLauncher> placed = KernelLauncher::place(
        pass_context_.configuration.session, pass_context_.subject.module_in(precision), pass_context_.kernel,
        backends::Pass::kBackward, to_backend_precision(precision), borrow_launch(*found->second),
        make_gradient_arguments(pass_context_.subject, pass_context_.input_sets[set], precision, start,
                                cotangent_factor),
        roles_, std::byte{0xFF}, geometry);
    if (!placed.ok()) {
      verdict.fail_for_memory(placed.error());
      return std::nullopt;
    }
    return TestLaunch{.purpose = purpose, .input_set_index = set, .precision = precision, .launcher = placed.take()};
  }

  void plan() {
    for (std::size_t s = 0; s < pass_context_.input_sets.size(); ++s) {
      if (pass_context_.input_sets[s].request.is_for_forward_only) continue;
      add(LaunchPurpose::kOracleComparison, s, Precision::kNative, InitialGradient::kNonZero, 1,
          {.requests_unrounded_values = pass_context_.configuration.judges_unrounded_values});
      add(LaunchPurpose::kOracleComparison, s, Precision::kPromoted, InitialGradient::kNonZero, 1);
      if (!pass_context_.is_fully_checked(s)) continue;
      add(LaunchPurpose::kZeroInitialGradient, s, Precision::kNative, InitialGradient::kZero, 1);
      add(LaunchPurpose::kRepeatability, s, Precision::kNative, InitialGradient::kZero, 1);
      add(LaunchPurpose::kDoubledCotangent, s, Precision::kNative, InitialGradient::kZero, 2);
      add(LaunchPurpose::kZeroCotangent, s, Precision::kNative, InitialGradient::kZero, 0);
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, InitialGradient::kNonZero, 1,
          {.order = backends::ThreadOrder::kReverse,
           .threads_per_block = kLargeBlockSize,
           .padding = PaddingContent::kPlausibleValues});
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, InitialGradient::kNonZero, 1,
          {backends::ThreadOrder::kShuffled, kSmallBlockSize, pass_context_.configuration.seed});
      for (const Precision precision : kBothPrecisions)
        add(LaunchPurpose::kDifferentThreadOrder, s, precision, InitialGradient::kNonZero, 1,
            {.threads_per_block = kLargeBlockSize,
             .layout = ArrayLayout::kView,
             .padding = PaddingContent::kPlausibleValues});
      if (!pass_context_.uses_precision(Precision::kNative)) continue;
      add(LaunchPurpose::kGradientAccumulation, s, Precision::kNative, InitialGradient::kZero, 1);
      if (verdict_.failed()) return;
      add(LaunchPurpose::kGradientAccumulation, s, Precision::kNative, InitialGradient::kZero, 1);
      if (verdict_.failed()) return;
      std::vector<bool> shared = carries_cotangent_;
      shared.flip();
      test_launches_.back().launcher.share_gradients(test_launches_[test_launches_.size() - 2].launcher, shared);
    }
    for (const std::size_t s : pass_context_.sets_for_other_block_orders()) {
      if (pass_context_.input_sets[s].request.is_for_forward_only) continue;
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, InitialGradient::kNonZero, 1,
          {backends::ThreadOrder::kReverse, kLargeBlockSize});
    }
  }

  /// Repeats a later set at the addresses of the first one, as for the forward pass.
  void check_addresses_again() {
    pass_context_.configuration.session.reset();
    test_launches_.clear();
    add(LaunchPurpose::kOracleComparison, pass_context_.set_to_repeat(),
        pass_context_.uses_precision(Precision::kNative) ? Precision::kNative : Precision::kPromoted,
        InitialGradient::kNonZero, 1);
    if (verdict_.failed() || !run_launches(pass_context_, test_launches_, verdict_)) return;
    check_memory(pass_context_, test_launches_.front(), verdict_);
    check(0);
  }

  /// Judges the sets again with the documented errors of approximate instructions, as for the forward pass.
  void check_with_documented_errors(const std::map<std::size_t, std::uint32_t>& instructions_by_set) {
    const auto place_with_errors = [this](std::size_t set, std::uint32_t instructions, PassVerdict& verdict) {
      return place(LaunchPurpose::kDocumentedErrors, set, Precision::kNative, InitialGradient::kNonZero, 1,
                   {.instructions_with_errors = instructions}, verdict);
    };
    judge_documented_errors(
        pass_context_, instructions_by_set,
        {.place = place_with_errors,
         .check = [this](std::size_t t) { check_result_with_errors(test_launches_[t]); },
         .agrees = [this](const TestLaunch& launch) { return contradicted_gradients(launch) == std::nullopt; }},
        test_launches_, verdict_);
  }

  void check_result_with_errors(const TestLaunch& test_launch) {
    if (const auto expected = contradicted_gradients(test_launch))
      compare_with(test_launch, *expected, InitialGradient::kNonZero, 1);
  }

  /// The expected gradients with which a launch with documented errors disagrees, as for the forward pass.
  std::optional<ExpectedGradients> contradicted_gradients(const TestLaunch& test_launch) {
    const auto agrees = [&](const ExpectedGradients& expected) {
      for (std::size_t g = 0; g < expected.size(); ++g)
        if (is_compared_[g] && !compare(read(test_launch, g), expected[g]).agrees()) return false;
      return true;
    };
    const std::size_t set = test_launch.input_set_index;
    if (!pass_context_.input_sets[set].has_conclusive_gradient(test_launch.precision) ||
        agrees(expected_of(test_launch, InitialGradient::kNonZero, 1)))
      return std::nullopt;
    const reference::ReferenceResult* const reference = approximate_references_.of(set);
    if (reference == nullptr) return std::nullopt;
    ExpectedGradients expected = expected_along(*reference, test_launch, InitialGradient::kNonZero, 1);
    return agrees(expected) ? std::nullopt : std::optional(std::move(expected));
  }

  const transforms::GradientParameter& gradient(std::size_t g) const {
    return pass_context_.subject.adjoint->gradient_parameters[g];
  }
  std::string name(std::size_t g) const {
    return pass_context_.subject.adjoint->module.kernels[0].var(gradient(g).gradient_parameter).name;
  }
  const PlacedArray& array(const TestLaunch& test_launch, std::size_t g) const {
    return test_launch.launcher.arrays()[test_launch.launcher.parameters() + g];
  }
  std::span<const std::byte> bytes(const TestLaunch& test_launch, std::size_t g) const {
    return test_launch.launcher.bytes(pass_context_.configuration.session, test_launch.launcher.parameters() + g);
  }
  std::vector<ComputedScalar> read(const TestLaunch& test_launch, std::size_t g) const {
    return read_scalars(pass_context_.subject.module_in(test_launch.precision), *array(test_launch, g).initial_content,
                        bytes(test_launch, g));
  }
  const TestLaunch& find(LaunchPurpose purpose, std::size_t set) const {
    for (const TestLaunch& test_launch : test_launches_) {
      if (test_launch.purpose == purpose && test_launch.input_set_index == set) return test_launch;
    }
    return test_launches_.front();
  }

  void check(std::size_t t) {
    const TestLaunch& test_launch = test_launches_[t];
    switch (test_launch.purpose) {
      case LaunchPurpose::kOracleComparison: return compare_with_oracle(test_launch, InitialGradient::kNonZero, 1);
      case LaunchPurpose::kDifferentThreadOrder: return compare_with_oracle(test_launch, InitialGradient::kNonZero, 1);
      case LaunchPurpose::kZeroInitialGradient: return compare_with_oracle(test_launch, InitialGradient::kZero, 1);
      case LaunchPurpose::kRepeatability: return check_repeat(test_launch);
      case LaunchPurpose::kDoubledCotangent: return check_doubled(test_launch);
      case LaunchPurpose::kZeroCotangent: return check_zero(test_launch);
      case LaunchPurpose::kGradientAccumulation:
        if (t + 1 < test_launches_.size() && test_launches_[t + 1].purpose == LaunchPurpose::kGradientAccumulation &&
            test_launches_[t + 1].input_set_index == test_launch.input_set_index)
          return;
        return compare_with_oracle(test_launch, InitialGradient::kZero, 2);
      case LaunchPurpose::kDifferentPoison:
      case LaunchPurpose::kDocumentedErrors: return;
    }
  }

  NamedCheck tier_of(const TestLaunch& test_launch) const {
    if (test_launch.purpose == LaunchPurpose::kDocumentedErrors) return NamedCheck::kNativePrecision;
    if (test_launch.purpose != LaunchPurpose::kOracleComparison) return NamedCheck::kDeterminism;
    return test_launch.precision == Precision::kPromoted ? NamedCheck::kF64Promotion : NamedCheck::kNativePrecision;
  }

  /// Expected gradients along one path. `times`: number of launches that added to the buffers without cotangents.
  ExpectedGradients expected_along(const reference::ReferenceResult& path, const TestLaunch& test_launch,
                                   InitialGradient start, int times) const {
    auto expected = expected_gradients(pass_context_.subject, pass_context_.input_sets[test_launch.input_set_index],
                                       path, test_launch.precision, start);
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (times != 2 || carries_cotangent_[g]) continue;
      const ir::Module& module = pass_context_.subject.module_in(test_launch.precision);
      const auto components = ir::scalar_components(module, array(test_launch, g).initial_content->type.element());
      for (std::size_t k = 0; k < expected[g].size(); ++k) {
        ExpectedScalar& e = expected[g][k];
        // Twice as many terms, each twice as large against the partial sums.
        e = {.value = 2 * e.value, .bound = 4 * e.bound, .informative_bound_scale = 2 * e.informative_bound_scale};
        const double largest = reference::format_of(components[k % components.size()].scalar).largest_finite;
        if (std::abs(e.value) + e.bound > largest) e.bound = reference::kUnbounded;
      }
    }
    return expected;
  }

  /// Expected gradients along the allowed path that agrees with the launch; along the oracle's own path if none agrees.
  /// Valid until the next call.
  const ExpectedGradients& expected_of(const TestLaunch& test_launch, InitialGradient start, int times) {
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    const auto paths = set.references(test_launch.precision);
    for (std::size_t k = 0; paths.size() > 1 && k < paths.size(); ++k) {
      along_path_ = expected_along(*paths[k], test_launch, start, times);
      bool agrees = true;
      for (std::size_t g = 0; g < along_path_.size() && agrees; ++g)
        agrees = !is_compared_[g] || compare(read(test_launch, g), along_path_[g]).agrees();
      if (agrees) return along_path_;
    }
    // Consecutive launches of a set share their expected gradients.
    if (expected_set_ != test_launch.input_set_index) expected_.clear();
    expected_set_ = test_launch.input_set_index;
    const auto [found, is_new] = expected_.try_emplace({test_launch.precision, start, times});
    if (is_new) found->second = expected_along(set.reference, test_launch, start, times);
    return found->second;
  }

  void compare_with_oracle(const TestLaunch& test_launch, InitialGradient start, int times) {
    compare_with(test_launch, expected_of(test_launch, start, times), start, times);
  }

  void compare_with(const TestLaunch& test_launch, const ExpectedGradients& expected, InitialGradient start,
                    int times) {
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (!is_compared_[g]) continue;
      if (!set.has_conclusive_gradient(test_launch.precision)) {
        auto& doubt = set.is_conclusive(test_launch.precision) ? verdict_.inconclusive.non_differentiable_points
                                                               : verdict_.inconclusive.uncertain_paths;
        if (test_launch.purpose == LaunchPurpose::kOracleComparison)
          doubt += static_cast<std::int64_t>(expected[g].size());
        continue;
      }
      const std::vector<ComputedScalar> got = read(test_launch, g);
      ComparisonResult comparison = compare(got, expected[g]);
      if (comparison.agrees()) check_algorithm(test_launch, g, start, expected[g]);
      if (!comparison.agrees() && pass_context_.configuration.accepts_subgradients)
        comparison = without_subgradients(test_launch, g, times, got, expected[g], std::move(comparison));
      verdict_.count(tier_of(test_launch), comparison);
      const bool had_failed = verdict_.failed();
      report_mismatches(pass_context_, tier_of(test_launch), test_launch, name(g),
                        *array(test_launch, g).initial_content, got, expected[g], comparison, verdict_);
      if (!had_failed && verdict_.failed()) attribute_to_rounding(test_launch, g, start, expected[g]);
      if (tier_of(test_launch) == NamedCheck::kF64Promotion && comparison.agrees())
        present(test_launch, g, got, expected[g]);
    }
  }

  /// Judges the algorithm of foreign code by the gradient that it computes without rounding.
  void check_algorithm(const TestLaunch& test_launch, std::size_t g, InitialGradient start,
                       const std::vector<ExpectedScalar>& rounded) {
    const std::optional<UnroundedComparison> comparison = compare_unrounded(test_launch, g, start, rounded);
    if (!comparison) return;
    verdict_.count_algorithm(comparison->result);
    report_mismatches(pass_context_, NamedCheck::kF64Promotion, test_launch, name(g),
                      *array(test_launch, g).initial_content, comparison->computed, comparison->expected,
                      comparison->result, verdict_);
  }

  /// Attributes the failure of a gradient to rounding if the gradient would be correct without rounding.
  void attribute_to_rounding(const TestLaunch& test_launch, std::size_t g, InitialGradient start,
                             const std::vector<ExpectedScalar>& rounded) {
    const std::optional<UnroundedComparison> comparison = compare_unrounded(test_launch, g, start, rounded);
    if (!comparison || !comparison->is_correct()) return;
    verdict_.count_algorithm(comparison->result);
    verdict_.attribute_failure_to_rounding();
  }

  /// Compares the gradient that foreign code computes without rounding. nullopt if it is unknown.
  std::optional<UnroundedComparison> compare_unrounded(const TestLaunch& test_launch, std::size_t g,
                                                       InitialGradient start,
                                                       const std::vector<ExpectedScalar>& rounded) {
    const auto bytes = test_launch.launcher.unrounded_bytes(pass_context_.configuration.session,
                                                            test_launch.launcher.parameters() + g);
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    // With several allowed paths, the exact gradient of the path that was taken is not known.
    if (bytes.empty() || set.references(test_launch.precision).size() > 1) return std::nullopt;
    const auto exact = expected_gradients(pass_context_.subject, set, set.reference, Precision::kPromoted, start);
    const std::vector<bool> all(rounded.size(), true);
    const ir::Argument& layout = *array(test_launch, g).initial_content;
    const auto with_errors = [&](ResultsWithErrors& results) {
      const auto expected = expected_gradients(pass_context_.subject, set, results.of(test_launch.input_set_index),
                                               Precision::kPromoted, start);
      return ExpectedArray{.scalars = expected[g], .is_written = all};
    };
    return compare_unrounded_values(bytes, pass_context_.subject.module, layout,
                                    {.exact = {.scalars = exact[g], .is_written = all},
                                     .rounded = {.scalars = rounded, .is_written = all},
                                     .with_library_errors = [&] { return with_errors(with_library_errors_); },
                                     .with_constant_errors = [&] { return with_errors(with_constant_errors_); }});
  }

  /// The comparison without the scalars that differ, which become inconclusive, if all of them are subgradients.
  ComparisonResult without_subgradients(const TestLaunch& test_launch, std::size_t g, int times,
                                        const std::vector<ComputedScalar>& got,
                                        const std::vector<ExpectedScalar>& expected, ComparisonResult comparison) {
    const DifferingScalars differing{.gradient_index = g,
                                     .gradient_factor = carries_cotangent_[g] ? 1.0 : static_cast<double>(times),
                                     .got = got,
                                     .expected = expected,
                                     .positions = comparison.failed};
    if (!are_subgradients(pass_context_, test_launch, differing)) return comparison;
    std::vector<ExpectedScalar> expected_elsewhere = expected;
    for (const std::size_t at : comparison.failed)
      expected_elsewhere[at].bound = reference::kUnbounded;
    const auto released = static_cast<std::int64_t>(comparison.failed.size());
    comparison = compare(got, expected_elsewhere);
    comparison.unbounded_scalars -= released;
    if (test_launch.purpose == LaunchPurpose::kOracleComparison)
      verdict_.inconclusive.non_differentiable_points += released;
    return comparison;
  }

  void compare_with_tolerances() {
    if (!verdict_.tolerance_comparisons.empty()) return;
    for (const TestLaunch* const test_launch : launches_for_tolerances(pass_context_, test_launches_)) {
      std::array<bool, kComparedTolerances.size()> accepts{};
      accepts.fill(true);
      const ExpectedGradients& expected = expected_of(*test_launch, InitialGradient::kNonZero, 1);
      for (std::size_t g = 0; g < expected.size(); ++g) {
        if (!is_compared_[g]) continue;
        const std::vector<ComputedScalar> got = read(*test_launch, g);
        for (std::size_t t = 0; t < accepts.size(); ++t)
          accepts[t] = accepts[t] && are_close(got, expected[g], kComparedTolerances[t]);
      }
      count_tolerances(verdict_, accepts);
    }
  }

  void present(const TestLaunch& test_launch, std::size_t g, const std::vector<ComputedScalar>& got,
               const std::vector<ExpectedScalar>& expected) {
    const ir::Argument& before = *array(test_launch, g).initial_content;
    const std::size_t row = before.shape.size() > 1 ? static_cast<std::size_t>(before.shape.back()) : 1;
    const auto untouched = read_scalars(pass_context_.subject.module_in(test_launch.precision), before, before.bytes);
    verdict_.negative_controls[name(g)].add(
        try_negative_controls(got, expected, pass_context_.input_sets[test_launch.input_set_index].input_mean, row,
                              pass_context_.configuration.seed + test_launch.input_set_index, untouched));
  }

  /// Whether the order of atomic additions, which differs between launches on a GPU, can explain the difference of a
  /// gradient between two launches from zero: each is within its bound of the exact gradient, and the difference is at
  /// most `bounds` such bounds.
  bool can_result_from_order(const TestLaunch& test_launch, std::size_t g, std::size_t i, double difference,
                             double bounds) {
    if (pass_context_.configuration.is_repeatable) return false;
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    if (!set.has_conclusive_gradient(test_launch.precision)) return true;
    const double bound = expected_of(test_launch, InitialGradient::kZero, 1)[g][i].bound;
    return bound == reference::kUnbounded || difference <= bounds * bound;
  }

  bool agree(const TestLaunch& first, const TestLaunch& second, std::size_t g) {
    const auto a = bytes(first, g);
    const auto b = bytes(second, g);
    if (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0) return true;
    const auto first_values = read(first, g);
    const auto second_values = read(second, g);
    for (std::size_t i = 0; i < first_values.size(); ++i) {
      const double difference = std::abs(first_values[i].value - second_values[i].value);
      if (difference != 0 && !can_result_from_order(first, g, i, difference, 2)) return false;
    }
    return !pass_context_.configuration.is_repeatable;
  }

  void check_repeat(const TestLaunch& test_launch) {
    const TestLaunch& first = find(LaunchPurpose::kZeroInitialGradient, test_launch.input_set_index);
    for (std::size_t g = 0; g < carries_cotangent_.size(); ++g) {
      const bool equal = agree(first, test_launch, g);
      verdict_.count_one(NamedCheck::kDeterminism, 0, !equal);
      if (!equal) {
        verdict_.fail(Outcome::fail, "nondeterministic",
                      fmt::format("'{}' differs between two identical launches (input set {})", name(g),
                                  test_launch.input_set_index));
      }
    }
  }

  void check_doubled(const TestLaunch& test_launch) {
    // Doubling is not exact for the subnormal numbers of f16, which are relatively large.
    if (computes_in(pass_context_.subject, ir::Scalar::kF16)) return;
    const TestLaunch& once = find(LaunchPurpose::kZeroInitialGradient, test_launch.input_set_index);
    for (std::size_t g = 0; g < carries_cotangent_.size(); ++g) {
      const auto a = read(once, g);
      const auto b = read(test_launch, g);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double size = std::abs(a[i].value);
        if (!(size > kTiny && size < kHuge) || b[i].value == 2 * a[i].value) continue;
        if (can_result_from_order(once, g, i, std::abs(b[i].value - 2 * a[i].value), 4)) continue;
        verdict_.count_one(NamedCheck::kDeterminism, 0, true);
        return verdict_.fail(Outcome::fail, "seed_scaling",
                             fmt::format("doubling the cotangents does not double {}[{}]: {} became {} (input set {})",
                                         name(g), i, a[i].value, b[i].value, test_launch.input_set_index));
      }
    }
    verdict_.count_one(NamedCheck::kDeterminism, 0, false);
  }

  /// Whether this scalar of a gradient is infinite or unbounded along an allowed path: then a zero cotangent need not
  /// give zero.
  bool may_be_infinite(const TestLaunch& test_launch, std::size_t g, std::size_t i) const {
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    const auto paths = set.references(test_launch.precision);
    return paths.empty() || std::ranges::any_of(paths, [&](const reference::ReferenceResult* path) {
             const ExpectedScalar expected = expected_along(*path, test_launch, InitialGradient::kZero, 1)[g][i];
             return !std::isfinite(expected.value) || !std::isfinite(expected.bound);
           });
  }

  void check_zero(const TestLaunch& test_launch) {
    for (std::size_t g = 0; g < carries_cotangent_.size(); ++g) {
      const auto got = read(test_launch, g);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].value == 0 || (!std::isfinite(got[i].value) && may_be_infinite(test_launch, g, i))) continue;
        verdict_.count_one(NamedCheck::kDeterminism, 0, true);
        return verdict_.fail(Outcome::fail, "zero_seed",
                             fmt::format("zero cotangents give {}[{}] = {}, expected exactly 0 (input set {})", name(g),
                                         i, got[i].value, test_launch.input_set_index));
      }
    }
    verdict_.count_one(NamedCheck::kDeterminism, 0, false);
  }

  void count_sets() {
    verdict_.input_sets = verdict_.uniform_input_sets = verdict_.conclusive_uniform_input_sets = 0;
    for (const InputSet& set : pass_context_.input_sets) {
      if (set.request.is_for_forward_only) continue;
      const bool conclusive =
          set.has_conclusive_gradient(Precision::kNative) && set.has_conclusive_gradient(Precision::kPromoted);
      ++verdict_.input_sets;
      verdict_.uniform_input_sets += set.is_uniform;
      verdict_.conclusive_uniform_input_sets += set.is_uniform && conclusive;
      if (conclusive) verdict_.coverage.add(set.reference.branch_points);
    }
  }

  const PassContext& pass_context_;
  PassVerdict& verdict_;
  std::vector<ArrayRole> roles_;
  std::vector<bool> carries_cotangent_;                                              ///< by gradient
  std::vector<bool> is_compared_;                                                    ///< by gradient
  std::map<std::pair<std::size_t, Precision>, std::optional<ir::Launch>> launches_;  ///< by input set and precision
  std::vector<TestLaunch> test_launches_;
  ExpectedGradients along_path_;
  std::optional<std::size_t> expected_set_;  ///< the set of expected_
  std::map<std::tuple<Precision, InitialGradient, int>, ExpectedGradients> expected_;
  ResultsWithErrors with_library_errors_{pass_context_, AddedErrors::kLibrary, true};
  ResultsWithErrors with_constant_errors_{pass_context_, AddedErrors::kConstants, true};
  ApproximateReferences approximate_references_{pass_context_, true};
};

}  // namespace

void judge_backward(const PassContext& pass_context) { BackwardJudge(pass_context).run(); }

}  // namespace assay::harness
