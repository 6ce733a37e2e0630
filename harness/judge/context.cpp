#include "harness/judge/context.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backends/device/differing_bits.hpp"
#include "harness/judge/candidate_sets.hpp"

namespace assay::harness {
namespace {

using namespace backends;

struct NamedOutcome {
  Outcome outcome;
  std::string kind;
};

NamedOutcome classify(const RunOutcome& outcome) {
  if (std::holds_alternative<Crashed>(outcome)) return {Outcome::crashed, "signal"};
  if (std::holds_alternative<TimedOut>(outcome)) return {Outcome::timed_out, "time_limit"};
  if (const auto* fault = std::get_if<MemoryFault>(&outcome)) {
    return {fault->kind == kDifferingBitsFault ? Outcome::fail : Outcome::memory_fault, fault->kind};
  }
  if (std::holds_alternative<ResourceError>(outcome)) return {Outcome::resource_error, "device"};
  if (std::holds_alternative<Unsupported>(outcome)) return {Outcome::unsupported, "device"};
  return {Outcome::launch_failed, "launch"};
}

std::vector<std::int64_t> coordinates(const ir::Argument& layout, std::int64_t element) {
  std::vector<std::int64_t> index(layout.shape.size());
  for (std::size_t d = index.size(); d-- > 0;) {
    const std::int64_t extent = std::max(layout.shape[d], 1);
    index[d] = element % extent;
    element /= extent;
  }
  return index;
}

ExactNumber exact_in(ir::Scalar scalar, double value) {
  return scalar == ir::Scalar::kF32 ? exact(static_cast<float>(value)) : exact(value);
}

/// Only one launch of each pass and target is profiled: the first check in the kernel's own types.
bool is_profiled(const TestLaunch& test_launch) {
  return test_launch.purpose == LaunchPurpose::kOracleComparison && test_launch.input_set_index == 0 &&
         test_launch.precision == Precision::kNative;
}

Counterexample counterexample_of(const TestLaunch& test_launch) {
  Counterexample counterexample{.input_set_index = test_launch.input_set_index,
                                .precision = to_backend_precision(test_launch.precision),
                                .threads = test_launch.launcher.request().threads,
                                .launch_arguments = {},
                                .array_name = {},
                                .got = {},
                                .expected = {}};
  for (const PlacedArray& array : test_launch.launcher.arrays())
    counterexample.launch_arguments.push_back({.name = array.role.name, .content = *array.initial_content});
  return counterexample;
}

/// Stores the compared values. Scalars that were not compared, for example because no thread writes them, get an
/// infinite bound.
void counterexample_values(Counterexample& counterexample, std::span<const ComputedScalar> got,
                           std::span<const ExpectedScalar> expected, const ComparisonResult& comparison) {
  counterexample.got.assign(got.begin(), got.end());
  counterexample.expected.assign(expected.begin(), expected.end());
  auto failed = comparison.failed.begin();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (failed != comparison.failed.end() && *failed == i) ++failed;
    else if (score(got[i], expected[i]).agreement == Agreement::kDiffers)
      counterexample.expected[i] = {.bound = std::numeric_limits<double>::infinity()};
  }
}

/// Stores the counterexample of the first failure. Must be called before PassVerdict::fail.
void save_counterexample(PassVerdict& verdict, const TestLaunch& test_launch) {
  if (!verdict.failed()) verdict.counterexample = counterexample_of(test_launch);
}

}  // namespace

std::vector<std::size_t> PassContext::sets_for_other_block_orders() const {
  if (!is_candidate(configuration.profile)) return {};
  std::vector<std::size_t> sets = sets_with_many_blocks(input_sets);
  std::erase_if(sets, [this](std::size_t set) { return is_fully_checked(set); });
  return sets;
}

std::size_t PassContext::set_to_repeat() const {
  for (std::size_t s = input_sets.size(); s-- > 0;) {
    const bool is_for_all_passes = !input_sets[s].request.is_for_forward_only;
    if (is_for_all_passes && input_sets[s].launch_by_precision[Precision::kNative].threads() > 1) return s;
  }
  return 0;
}

std::vector<ArrayRole> roles_of(const PassContext& pass_context, Pass pass) {
  std::vector<ArrayRole> roles;
  for (std::size_t p = 0; p < pass_context.parameter_uses.size(); ++p) {
    const ir::ParameterUse& use = pass_context.parameter_uses[p];
    // Arrays that hold the forward pass's results for the backward pass must not be poisoned.
    const bool is_final =
        pass == Pass::kBackward && std::ranges::count(pass_context.subject.adjoint->parameters_bound_to_final_content,
                                                      static_cast<ir::VarId>(p)) > 0;
    roles.push_back({.name = pass_context.subject.kernel.variables[p].name,
                     .is_write_only = pass_context.is_poisoned[p] && !is_final,
                     .read_only = !use.changed() || (pass == Pass::kBackward && !use.read)});
  }
  if (pass == Pass::kForward) return roles;
  for (const transforms::GradientParameter& gradient : pass_context.subject.adjoint->gradient_parameters)
    roles.push_back({.name = pass_context.subject.adjoint->module.kernels[0].var(gradient.gradient_parameter).name});
  return roles;
}

bool run_launches(const PassContext& pass_context, std::span<TestLaunch> test_launches, PassVerdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<LaunchRequest> requests;
  requests.reserve(test_launches.size());
  for (const TestLaunch& test_launch : test_launches) {
    requests.push_back(test_launch.launcher.request());
    requests.back().target = pass_context.build_target;
    requests.back().time_limit = pass_context.configuration.time_limit;
    requests.back().profile = is_profiled(test_launch);
  }
  // If the first launch hangs or crashes, the others do not run.
  if (!requests.empty()) requests.front().stops_on_failure = true;
  std::vector<RunOutcome> outcomes = pass_context.configuration.session.run(requests);
  pass_context.judgment.launch_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  bool completed = true;
  for (const std::size_t t : checking_order(pass_context, test_launches)) {
    if (t >= outcomes.size()) continue;
    test_launches[t].outcome = std::move(outcomes[t]);
    if (auto* done = std::get_if<Completed>(&test_launches[t].outcome)) {
      verdict.thread_counts.insert(requests[t].threads);
      if (done->profile) verdict.profiles.push_back(std::move(*done->profile));
      continue;
    }
    completed = false;
    const NamedOutcome named = classify(test_launches[t].outcome);
    save_counterexample(verdict, test_launches[t]);
    verdict.fail(named.outcome, named.kind,
                 fmt::format("{} (input set {}, {} threads)", describe(test_launches[t].outcome),
                             test_launches[t].input_set_index, test_launches[t].launcher.request().threads));
    if (const auto* crash = std::get_if<Crashed>(&test_launches[t].outcome)) verdict.worker_log = crash->output;
    if (const auto* fault = std::get_if<MemoryFault>(&test_launches[t].outcome)) verdict.keep(fault->findings);
  }
  return completed;
}

std::vector<std::size_t> checking_order(const PassContext& pass_context, std::span<const TestLaunch> test_launches) {
  std::vector<std::size_t> order(test_launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!is_candidate(pass_context.configuration.profile)) return order;
  // All launches of a set stay together. Launches of other sizes have numbers that are no index of an input set.
  std::map<std::size_t, std::size_t> bytes_by_set;
  for (const TestLaunch& test_launch : test_launches) {
    std::size_t& bytes = bytes_by_set[test_launch.input_set_index];
    if (bytes != 0) continue;
    for (const PlacedArray& array : test_launch.launcher.arrays())
      bytes += array.initial_content->bytes.size();
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t t) {
    const std::size_t set = test_launches[t].input_set_index;
    return std::pair(bytes_by_set.at(set), set);
  });
  return order;
}

std::vector<const TestLaunch*> launches_for_tolerances(const PassContext& pass_context,
                                                       std::span<const TestLaunch> test_launches) {
  std::vector<const TestLaunch*> chosen;
  const JudgeConfiguration& configuration = pass_context.configuration;
  const bool is_foreign = is_candidate(configuration.profile);
  if (!is_foreign && !configuration.compares_with_tolerances) return chosen;
  for (const TestLaunch& test_launch : test_launches) {
    const InputSet& set = pass_context.input_sets[test_launch.input_set_index];
    if (test_launch.purpose == LaunchPurpose::kOracleComparison && test_launch.precision == Precision::kNative &&
        set.is_uniform && std::holds_alternative<Completed>(test_launch.outcome) &&
        std::ssize(chosen) < kInputSetsComparedWithTolerances)
      chosen.push_back(&test_launch);
  }
  return chosen;
}

void count_tolerances(PassVerdict& verdict, const std::array<bool, kComparedTolerances.size()>& accepts) {
  for (std::size_t t = 0; t < accepts.size(); ++t) {
    if (verdict.tolerance_comparisons.size() == t)
      verdict.tolerance_comparisons.push_back({.tolerance = kComparedTolerances[t]});
    ToleranceComparison& comparison = verdict.tolerance_comparisons[t];
    ++comparison.input_sets;
    comparison.accepts_all_results = comparison.accepts_all_results && accepts[t];
  }
}

std::optional<ir::Launch> make_backward_launch(const PassContext& pass_context, std::size_t set, Precision precision,
                                               PassVerdict& verdict) {
  ir::Launch launch = pass_context.input_sets[set].launch_by_precision[precision];
  const std::vector<ir::VarId>& finals = pass_context.subject.adjoint->parameters_bound_to_final_content;
  if (finals.empty()) return launch;
  Result<KernelLauncher> placed = KernelLauncher::place(
      pass_context.configuration.session, pass_context.subject.module_in(precision), pass_context.kernel,
      backends::Pass::kForward, to_backend_precision(precision),
      borrow_launch(pass_context.input_sets[set].launch_by_precision[precision]), {},
      roles_of(pass_context, backends::Pass::kForward), std::byte{0}, pass_context.forward_settings({}));
  if (!placed.ok()) {
    verdict.fail_for_memory(placed.error());
    return std::nullopt;
  }
  TestLaunch forward{.purpose = LaunchPurpose::kDifferentPoison,
                     .input_set_index = set,
                     .precision = precision,
                     .launcher = placed.take()};
  if (!run_launches(pass_context, {&forward, 1}, verdict)) return std::nullopt;
  for (const ir::VarId array : finals) {
    const auto p = static_cast<std::size_t>(array);
    const auto now = forward.launcher.bytes(pass_context.configuration.session, p);
    launch.arguments[p].bytes.assign(now.begin(), now.end());
  }
  return launch;
}

std::vector<bool> compared_gradients(const PassContext& pass_context) {
  std::vector<bool> compared = carries_cotangent(pass_context.subject);
  if (!pass_context.configuration.derives_work_from_extents) return std::vector<bool>(compared.size(), true);
  compared.flip();
  return compared;
}

void check_memory(const PassContext& pass_context, const TestLaunch& test_launch, PassVerdict& verdict) {
  const auto& arrays = test_launch.launcher.arrays();
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (!arrays[a].is_in_memory) continue;
    const ArrayRole& role = arrays[a].role;
    if (!test_launch.launcher.guards_intact(pass_context.configuration.session, a)) {
      save_counterexample(verdict, test_launch);
      verdict.fail(
          Outcome::memory_fault, "out_of_bounds",
          fmt::format("memory next to '{}' was overwritten (input set {})", role.name, test_launch.input_set_index));
    }
    if (role.read_only && !test_launch.launcher.is_unmodified(pass_context.configuration.session, a)) {
      save_counterexample(verdict, test_launch);
      verdict.fail(Outcome::memory_fault, "input_modified",
                   fmt::format("'{}' is read-only in this pass but was modified (input set {})", role.name,
                               test_launch.input_set_index));
    }
  }
}

void report_mismatches(const PassContext& pass_context, NamedCheck named_check, const TestLaunch& test_launch,
                       const std::string& array, const ir::Argument& layout, std::span<const ComputedScalar> got,
                       std::span<const ExpectedScalar> expected, const ComparisonResult& comparison,
                       PassVerdict& verdict) {
  static constexpr const char* kNames[] = {"t0", "t1", "t2", "t3", "t5", "devices"};
  const auto components =
      ir::scalar_components(pass_context.subject.module_in(test_launch.precision), layout.type.element());
  const bool is_unrounded = named_check == NamedCheck::kF64Promotion && test_launch.precision == Precision::kNative;
  for (const std::size_t position : comparison.failed) {
    const ir::Scalar scalar = components[position % components.size()].scalar;
    Mismatch mismatch;
    mismatch.check_name = kNames[static_cast<int>(named_check)];
    mismatch.array_name = array;
    mismatch.index = coordinates(layout, static_cast<std::int64_t>(position / components.size()));
    if (components.size() > 1) mismatch.index.push_back(static_cast<std::int64_t>(position % components.size()));
    mismatch.input_set_index = static_cast<std::int64_t>(test_launch.input_set_index);
    const ExpectedScalar& wanted = expected[position];
    if (wanted.is_integer) {
      mismatch.expected = exact(wanted.integer);
      mismatch.got = exact(got[position].integer);
      mismatch.bound = exact(std::int64_t{0});
    } else {
      mismatch.expected = exact(static_cast<double>(wanted.value));
      mismatch.got = is_unrounded ? exact(got[position].value) : exact_in(scalar, got[position].value);
      mismatch.bound = exact(wanted.bound);
    }
    mismatch.rho = score(got[position], wanted).rho;
    if (!verdict.failed()) {
      save_counterexample(verdict, test_launch);
      verdict.counterexample->array_name = array;
      counterexample_values(*verdict.counterexample, got, expected, comparison);
      const bool by_cross_check = named_check == NamedCheck::kDeviceAgreement;
      verdict.fail(Outcome::fail,
                   by_cross_check ? "devices_disagree"
                   : is_unrounded ? "algorithm"
                                  : "mismatch",
                   fmt::format("{}[{}] is {}{}, {} {} within {} ({}, {})", array, fmt::join(mismatch.index, ", "),
                               mismatch.got.text, is_unrounded ? " without rounding" : "",
                               by_cross_check ? fmt::format("on the device {}",
                                                            pass_context.configuration.cross_check_device->name)
                                              : "expected",
                               mismatch.expected.text, mismatch.bound.text,
                               test_launch.precision == Precision::kPromoted ? "f64 promotion"
                               : is_unrounded                                ? "algorithm"
                                                                             : "native precision",
                               fmt::format("input set {}", test_launch.input_set_index)));
    }
    verdict.keep(std::move(mismatch));
  }
}

}  // namespace assay::harness
