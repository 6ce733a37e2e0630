// Judges the forward pass against the oracle: f64_promotion, native_precision and determinism, poison, guard bands,
// controls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/approximations.hpp"
#include "harness/judge/candidate_sets.hpp"
#include "harness/judge/context.hpp"
#include "harness/judge/unrounded.hpp"

namespace assay::harness {
namespace {

constexpr std::byte kPoison{0xFF};           // NaN in every float type, -1 in integers
constexpr std::byte kDifferentPoison{0x3C};  // small finite numbers

class ForwardJudge {
 public:
  explicit ForwardJudge(const PassContext& pass_context)
      : pass_context_(pass_context),
        verdict_(pass_context.judgment.forward),
        roles_(roles_of(pass_context, backends::Pass::kForward)) {}

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
      check(test_launches_[t]);
    count_sets();
    const std::map<std::size_t, std::uint32_t> approximations = executed_approximations(pass_context_, test_launches_);
    if (!verdict_.failed()) check_addresses_again();
    if (!verdict_.failed() && !approximations.empty()) check_with_documented_errors(approximations);
  }

 private:
  void add(LaunchPurpose purpose, std::size_t set, Precision precision, std::byte poison,
           const LaunchSettings& geometry = {}) {
    if (!pass_context_.uses_precision(precision)) return;
    if (auto placed = place(purpose, set, precision, poison, geometry, verdict_))
      test_launches_.push_back(std::move(*placed));
  }

  /// Places a launch; if there is not enough memory, reports that in `verdict` and returns nullopt.
  std::optional<TestLaunch> place(LaunchPurpose purpose, std::size_t set, Precision precision, std::byte poison,
                                  const LaunchSettings& geometry, PassVerdict& verdict) const {
    Result<KernelLauncher> placed =
        KernelLauncher::place(pass_context_.configuration.session, pass_context_.subject.module_in(precision),
                              pass_context_.kernel, backends::Pass::kForward, to_backend_precision(precision),
                              borrow_launch(pass_context_.input_sets[set].launch_by_precision[precision]), {}, roles_,
                              poison, pass_context_.forward_settings(geometry));
    if (!placed.ok()) {
      verdict.fail_for_memory(placed.error());
      return std::nullopt;
    }
    return TestLaunch{.purpose = purpose, .input_set_index = set, .precision = precision, .launcher = placed.take()};
  }

  void plan() {
    for (std::size_t s = 0; s < pass_context_.input_sets.size(); ++s) {
      add(LaunchPurpose::kOracleComparison, s, Precision::kNative, kPoison,
          {.requests_unrounded_values = pass_context_.configuration.judges_unrounded_values});
      add(LaunchPurpose::kOracleComparison, s, Precision::kPromoted, kPoison);
      add(LaunchPurpose::kDifferentPoison, s, Precision::kNative, kDifferentPoison,
          {.padding = PaddingContent::kPlausibleValues});
      if (!pass_context_.is_fully_checked(s)) continue;
      add(LaunchPurpose::kDifferentPoison, s, Precision::kPromoted, kDifferentPoison,
          {.threads_per_block = kLargeBlockSize, .padding = PaddingContent::kPlausibleValues});
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, kPoison,
          {.layout = ArrayLayout::kView, .padding = PaddingContent::kPlausibleValues});
      if (pass_context_.fixes_thread_order) continue;
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, kPoison,
          {backends::ThreadOrder::kReverse, kLargeBlockSize});
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, kPoison,
          {backends::ThreadOrder::kShuffled, 1, pass_context_.configuration.seed});
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, kPoison,
          {backends::ThreadOrder::kShuffled, 7, pass_context_.configuration.seed});
    }
    // One launch for each set: a candidate that waits for an earlier block reaches the time limit in each.
    backends::ThreadOrder order = backends::ThreadOrder::kReverse;
    for (const std::size_t s : pass_context_.sets_for_other_block_orders()) {
      add(LaunchPurpose::kDifferentThreadOrder, s, Precision::kNative, kPoison,
          {order, kLargeBlockSize, pass_context_.configuration.seed});
      order =
          order == backends::ThreadOrder::kReverse ? backends::ThreadOrder::kShuffled : backends::ThreadOrder::kReverse;
    }
  }

  /// Repeats a later set at the addresses of the first one, to detect results cached by address.
  void check_addresses_again() {
    pass_context_.configuration.session.reset();
    test_launches_.clear();
    add(LaunchPurpose::kOracleComparison, pass_context_.set_to_repeat(),
        pass_context_.uses_precision(Precision::kNative) ? Precision::kNative : Precision::kPromoted, kPoison);
    if (verdict_.failed() || !run_launches(pass_context_, test_launches_, verdict_)) return;
    check_memory(pass_context_, test_launches_.front(), verdict_);
    check(test_launches_.front());
  }

  /// Judges the sets again with the documented errors of the approximate instructions that their launches executed.
  void check_with_documented_errors(const std::map<std::size_t, std::uint32_t>& instructions_by_set) {
    const auto place_with_errors = [this](std::size_t set, std::uint32_t instructions, PassVerdict& verdict) {
      return place(LaunchPurpose::kDocumentedErrors, set, Precision::kNative, kPoison,
                   {.instructions_with_errors = instructions}, verdict);
    };
    judge_documented_errors(
        pass_context_, instructions_by_set,
        {.place = place_with_errors,
         .check = [this](std::size_t t) { check_result_with_errors(test_launches_[t]); },
         .agrees = [this](const TestLaunch& launch) { return contradicted_reference(launch) == nullptr; }},
        test_launches_, verdict_);
  }

  void check_result_with_errors(const TestLaunch& test_launch) {
    const reference::ReferenceResult* const reference = contradicted_reference(test_launch);
    if (reference == nullptr) return;
    const auto expected = expected_outputs(*reference, test_launch.precision);
    for (std::size_t p = 0; p < expected.size(); ++p)
      if (expected[p]) check_array(test_launch, p, *expected[p]);
  }

  /// The oracle's result with which a launch with documented errors disagrees; null if there is none. If such a launch
  /// exceeds the usual bounds, its result may still be within those for approximate operations.
  const reference::ReferenceResult* contradicted_reference(const TestLaunch& test_launch) {
    const std::size_t set = test_launch.input_set_index;
    if (!pass_context_.input_sets[set].is_conclusive(test_launch.precision) ||
        agrees_with(taken_path(test_launch), test_launch))
      return nullptr;
    const reference::ReferenceResult* const reference = approximate_references_.of(set);
    return reference == nullptr || agrees_with(*reference, test_launch) ? nullptr : reference;
  }

  void compare_with_tolerances() {
    if (!verdict_.tolerance_comparisons.empty()) return;
    for (const TestLaunch* const test_launch : launches_for_tolerances(pass_context_, test_launches_)) {
      std::array<bool, kComparedTolerances.size()> accepts{};
      accepts.fill(true);
      const auto expected = expected_outputs(taken_path(*test_launch), test_launch->precision);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        if (!expected[p]) continue;
        const auto [got, wanted] = written_scalars(*test_launch, p, *expected[p]);
        for (std::size_t t = 0; t < accepts.size(); ++t)
          accepts[t] = accepts[t] && are_close(got, wanted, kComparedTolerances[t]);
      }
      count_tolerances(verdict_, accepts);
    }
  }

  static NamedCheck tier_of(const TestLaunch& test_launch) {
    if (test_launch.purpose == LaunchPurpose::kDocumentedErrors) return NamedCheck::kNativePrecision;
    if (test_launch.purpose != LaunchPurpose::kOracleComparison) return NamedCheck::kDeterminism;
    return test_launch.precision == Precision::kPromoted ? NamedCheck::kF64Promotion : NamedCheck::kNativePrecision;
  }

  void check(const TestLaunch& test_launch) {
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    const bool conclusive = set.is_conclusive(test_launch.precision);
    const reference::ReferenceResult& path = taken_path(test_launch);
    const auto expected = expected_outputs(path, test_launch.precision);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      if (!expected[p]) continue;
      check_unwritten(test_launch, p, *expected[p]);
      if (conclusive) {
        const bool has_correct_algorithm = check_algorithm(test_launch, p, path);
        const bool had_failed = verdict_.failed();
        check_array(test_launch, p, *expected[p]);
        if (has_correct_algorithm && !had_failed && verdict_.failed()) verdict_.attribute_failure_to_rounding();
      } else if (test_launch.purpose == LaunchPurpose::kOracleComparison) {
        verdict_.inconclusive.uncertain_paths += static_cast<std::int64_t>(expected[p]->scalars.size());
      }
      if (is_repetition(test_launch)) check_repetition(test_launch, p, *expected[p]);
    }
  }

  /// The allowed path that agrees with the launch; the oracle's own if none agrees.
  const reference::ReferenceResult& taken_path(const TestLaunch& test_launch) const {
    const InputSet& set = pass_context_.input_sets[test_launch.input_set_index];
    const auto paths = set.references(test_launch.precision);
    if (paths.size() < 2) return set.reference;
    const auto taken =
        std::find_if(paths.begin(), paths.end(), [&](const auto* path) { return agrees_with(*path, test_launch); });
    return taken == paths.end() ? set.reference : **taken;
  }

  bool agrees_with(const reference::ReferenceResult& path, const TestLaunch& test_launch) const {
    const auto expected = expected_outputs(path, test_launch.precision);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      if (expected[p] && !compare_written(test_launch, p, *expected[p]).agrees()) return false;
    }
    return true;
  }

  ComparisonResult compare_written(const TestLaunch& test_launch, std::size_t p, const ExpectedArray& expected) const {
    const auto all = read_scalars(pass_context_.subject.module_in(test_launch.precision),
                                  *test_launch.launcher.arrays()[p].initial_content,
                                  test_launch.launcher.bytes(pass_context_.configuration.session, p));
    ComparisonResult comparison;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (expected.is_written[i]) comparison.add(i, all[i], expected.scalars[i]);
    }
    return comparison;
  }

  /// Whether the launch must give the same bits as kCheck. Not with atomics, whose order may differ, and not for
  /// another order of threads of code that may use atomics although the kernel does not.
  bool is_repetition(const TestLaunch& test_launch) const {
    const bool may_use_atomics = is_candidate(pass_context_.configuration.profile) &&
                                 test_launch.purpose == LaunchPurpose::kDifferentThreadOrder;
    return test_launch.purpose != LaunchPurpose::kOracleComparison && !has_atomics(pass_context_.parameter_uses) &&
           !may_use_atomics;
  }

  void check_repetition(const TestLaunch& test_launch, std::size_t p, const ExpectedArray& expected) {
    const auto first = std::find_if(test_launches_.begin(), test_launches_.end(), [&](const TestLaunch& other) {
      return other.purpose == LaunchPurpose::kOracleComparison &&
             other.input_set_index == test_launch.input_set_index && other.precision == test_launch.precision;
    });
    const auto scalars = [&](const TestLaunch& of) {
      return read_scalars(pass_context_.subject.module_in(of.precision), *of.launcher.arrays()[p].initial_content,
                          of.launcher.bytes(pass_context_.configuration.session, p));
    };
    const auto a = scalars(*first);
    const auto b = scalars(test_launch);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool equal = a[i].integer == b[i].integer &&
                         (a[i].value == b[i].value || (std::isnan(a[i].value) && std::isnan(b[i].value)));
      if (equal || !expected.is_written[i]) continue;
      verdict_.count_one(NamedCheck::kDeterminism, 0, true);
      return verdict_.fail(
          Outcome::fail, "nondeterministic",
          fmt::format("scalar component {0} of '{1}' depends on the {3}: its values are {2} (input set {4})", i,
                      pass_context_.subject.kernel.variables[p].name,
                      a[i].value != b[i].value ? fmt::format("{} and {}", a[i].value, b[i].value)
                                               : fmt::format("{} and {}", a[i].integer, b[i].integer),
                      test_launch.launcher.arrays()[p].gap_elements > 0             ? "array layout"
                      : test_launch.purpose == LaunchPurpose::kDifferentThreadOrder ? "thread order"
                      : test_launch.precision == Precision::kPromoted
                          ? "initial contents of the outputs and number of blocks"
                          : "initial contents of the outputs",
                      test_launch.input_set_index));
    }
    verdict_.count_one(NamedCheck::kDeterminism, 0, false);
  }

  /// Elements that no thread writes must keep their content, unless the code writes whole outputs.
  void check_unwritten(const TestLaunch& test_launch, std::size_t p, const ExpectedArray& expected) {
    if (pass_context_.configuration.derives_work_from_extents) return;
    const PlacedArray& array = test_launch.launcher.arrays()[p];
    const auto now = test_launch.launcher.bytes(pass_context_.configuration.session, p);
    const auto components = ir::scalar_components(pass_context_.subject.module_in(test_launch.precision),
                                                  array.initial_content->type.element());
    for (std::size_t i = 0; i < expected.is_written.size(); ++i) {
      if (expected.is_written[i]) continue;
      const ir::ScalarComponent& component = components[i % components.size()];
      const std::size_t at =
          ir::element_offset(*array.initial_content, static_cast<std::int64_t>(i / components.size())) +
          component.offset;
      const auto size = static_cast<std::size_t>(ir::row(component.scalar).bytes);
      if (std::memcmp(now.data() + at, array.initial_content->bytes.data() + at, size) == 0) continue;
      if (!pass_context_.input_sets[test_launch.input_set_index].is_conclusive(test_launch.precision)) continue;
      verdict_.fail(Outcome::fail, "extra_write",
                    fmt::format("'{}' was written at element {}, which the source does not write (input set {})",
                                pass_context_.subject.kernel.variables[p].name, i / components.size(),
                                test_launch.input_set_index));
      return;
    }
  }

  /// The elements that the kernel writes, as computed and as expected.
  std::pair<std::vector<ComputedScalar>, std::vector<ExpectedScalar>> written_scalars(
      const TestLaunch& test_launch, std::size_t p, const ExpectedArray& expected) const {
    const auto all = read_scalars(pass_context_.subject.module_in(test_launch.precision),
                                  *test_launch.launcher.arrays()[p].initial_content,
                                  test_launch.launcher.bytes(pass_context_.configuration.session, p));
    std::pair<std::vector<ComputedScalar>, std::vector<ExpectedScalar>> written;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!expected.is_written[i]) continue;
      written.first.push_back(all[i]);
      written.second.push_back(expected.scalars[i]);
    }
    return written;
  }

  void check_array(const TestLaunch& test_launch, std::size_t p, const ExpectedArray& expected) {
    const PlacedArray& array = test_launch.launcher.arrays()[p];
    const std::string& name = pass_context_.subject.kernel.variables[p].name;
    const auto all = read_scalars(pass_context_.subject.module_in(test_launch.precision), *array.initial_content,
                                  test_launch.launcher.bytes(pass_context_.configuration.session, p));
    const ComparisonResult comparison = compare_written(test_launch, p, expected);
    verdict_.count(tier_of(test_launch), comparison);
    report_mismatches(pass_context_, tier_of(test_launch), test_launch, name, *array.initial_content, all,
                      expected.scalars, comparison, verdict_);
    if (test_launch.precision == Precision::kPromoted && comparison.agrees()) {
      const auto [written, wanted] = written_scalars(test_launch, p, expected);
      const std::size_t row =
          array.initial_content->shape.size() > 1 ? static_cast<std::size_t>(array.initial_content->shape.back()) : 1;
      verdict_.negative_controls[name].add(
          try_negative_controls(written, wanted, pass_context_.input_sets[test_launch.input_set_index].input_mean, row,
                                pass_context_.configuration.seed + test_launch.input_set_index));
    }
  }

  /// Judges the algorithm of foreign code: what it computes without rounding. Returns whether that agrees with the
  /// oracle; false also if it is unknown, for example because an element is NaN without rounding.
  bool check_algorithm(const TestLaunch& test_launch, std::size_t p, const reference::ReferenceResult& path) {
    const PlacedArray& array = test_launch.launcher.arrays()[p];
    const auto bytes = test_launch.launcher.unrounded_bytes(pass_context_.configuration.session, p);
    if (bytes.empty()) return false;
    const auto exact = expected_outputs(path, Precision::kPromoted);
    const auto rounded = expected_outputs(path, Precision::kNative);
    const auto with_errors = [&](ResultsWithErrors& results) {
      return *expected_outputs(results.of(test_launch.input_set_index), Precision::kPromoted)[p];
    };
    const std::optional<UnroundedComparison> comparison =
        compare_unrounded_values(bytes, pass_context_.subject.module, *array.initial_content,
                                 {.exact = *exact[p],
                                  .rounded = *rounded[p],
                                  .with_library_errors = [&] { return with_errors(with_library_errors_); },
                                  .with_constant_errors = [&] { return with_errors(with_constant_errors_); }});
    if (!comparison) return false;
    verdict_.count_algorithm(comparison->result);
    report_mismatches(pass_context_, NamedCheck::kF64Promotion, test_launch,
                      pass_context_.subject.kernel.variables[p].name, *array.initial_content, comparison->computed,
                      comparison->expected, comparison->result, verdict_);
    return comparison->is_correct();
  }

  void count_sets() {
    verdict_.input_sets = verdict_.uniform_input_sets = verdict_.conclusive_uniform_input_sets = 0;
    for (const InputSet& set : pass_context_.input_sets) {
      const bool conclusive = set.is_conclusive(Precision::kNative) && set.is_conclusive(Precision::kPromoted);
      ++verdict_.input_sets;
      verdict_.uniform_input_sets += set.is_uniform;
      verdict_.conclusive_uniform_input_sets += set.is_uniform && conclusive;
      if (conclusive) verdict_.coverage.add(set.reference.branch_points);
    }
  }

  const PassContext& pass_context_;
  PassVerdict& verdict_;
  std::vector<ArrayRole> roles_;
  std::vector<TestLaunch> test_launches_;
  ResultsWithErrors with_library_errors_{pass_context_, AddedErrors::kLibrary, false};
  ResultsWithErrors with_constant_errors_{pass_context_, AddedErrors::kConstants, false};
  ApproximateReferences approximate_references_{pass_context_, false};
};

}  // namespace

void judge_forward(const PassContext& pass_context) { ForwardJudge(pass_context).run(); }

}  // namespace assay::harness
