// Judges launches of 0 threads and of more than 65,535, in native precision. The oracle evaluates a sample of the
// threads of the large launch. Forward, the elements that they write are compared. Backward, only these elements have a
// nonzero cotangent, so that the other threads add zeros and the sample's gradient is that of the launch.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "ir/builder.hpp"
#include "ir/program_key.hpp"

namespace assay::harness {
namespace {

constexpr std::int32_t kLarge = 65'539;  // prime
/// Instruction budget of the oracle for the sampled threads. Kernels that need much more get no large launch.
constexpr std::int64_t kSampleBudget = 50'000;
/// DrawRequest::integer_bits of a large launch in which integers up to the number of threads overflow.
constexpr int kSmallIntegerBits = 6;

/// The launch as an input set whose cotangents are zero except for the elements that the sample writes.
InputSet seeded(const PassContext& pass_context, const DrawnLaunch& drawn) {
  InputSet set;
  set.informative_bound_factor = informative_bound_factor_of(pass_context.subject);
  set.launch_by_precision[Precision::kNative] = drawn.launch;
  set.cotangents.resize(drawn.launch.arguments.size());
  set.initial_gradients.resize(drawn.launch.arguments.size());
  for (std::size_t p = 0; p < set.cotangents.size(); ++p) {
    const auto& output = drawn.reference.outputs[p];
    if (!output) continue;
    set.cotangents[p].resize(component_count(pass_context.subject, drawn.launch.arguments[p]));
    for (const std::size_t cell : output->element_indices) {
      const ir::Scalar scalar = output->components[cell % output->components.size()];
      if (ir::is_float(scalar)) set.cotangents[p][cell] = ir::round_to(scalar, dense_value(cell, p));
    }
  }
  // Moved, because the cotangents of a large array are expensive to copy.
  reference::OracleRun run{.launch = drawn.launch,
                           .profile = pass_context.configuration.profile,
                           .computes_gradient = true,
                           .cotangents = std::move(set.cotangents),
                           .uninitialized = pass_context.is_poisoned,
                           .thread_order = sampled_threads(drawn.launch.threads(), pass_context.configuration.seed),
                           .reports_only_accessed_elements = true};
  set.reference = pass_context.subject.oracle.evaluate(run);
  set.cotangents = std::move(run.cotangents);
  return set;
}

/// Runs one launch of a pass and checks its memory. If it does not complete, returns nullopt and records the failure.
std::optional<TestLaunch> launched(const PassContext& pass_context, backends::Pass pass, const ir::Launch& launch,
                                   std::vector<ir::Argument> gradients, PassVerdict& verdict) {
  pass_context.configuration.session.reset();
  std::vector<ArrayRole> roles = roles_of(pass_context, pass);
  for (ArrayRole& role : roles)
    role.read_only |= launch.threads() == 0;
  Result<KernelLauncher> placed = KernelLauncher::place(
      pass_context.configuration.session, pass_context.subject.module, pass_context.kernel, pass,
      backends::Precision::kNative, borrow_launch(launch), std::move(gradients), roles, std::byte{0xFF},
      {.checked_threads = sampled_threads(launch.threads(), pass_context.configuration.seed)});
  if (!placed.ok()) {
    verdict.fail_for_memory(placed.error());
    return std::nullopt;
  }
  TestLaunch test_launch{
      .input_set_index = pass_context.input_sets.size(), .precision = Precision::kNative, .launcher = placed.take()};
  if (!run_launches(pass_context, {&test_launch, 1}, verdict)) return std::nullopt;
  check_memory(pass_context, test_launch, verdict);
  return test_launch;
}

void judge_forward_size(const PassContext& pass_context, const DrawnLaunch& drawn) {
  PassVerdict& verdict = pass_context.judgment.forward;
  const auto test_launch = launched(pass_context, backends::Pass::kForward, drawn.launch, {}, verdict);
  if (!test_launch || drawn.launch.threads() == 0) return;
  const auto outputs = expected_outputs(drawn.reference, Precision::kNative);
  for (std::size_t p = 0; p < outputs.size(); ++p) {
    if (!outputs[p]) continue;
    const std::vector<std::size_t>& places = drawn.reference.outputs[p]->element_indices;
    const ir::Argument& before = *test_launch->launcher.arrays()[p].initial_content;
    const auto components = ir::scalar_components(pass_context.subject.module, before.type.element());
    const auto bytes = test_launch->launcher.bytes(pass_context.configuration.session, p);
    ComparisonResult comparison;
    for (std::size_t k = 0; k < places.size(); ++k)
      comparison.add(places[k], read_scalar(components, before, bytes, places[k]), outputs[p]->scalars[k]);
    verdict.count(NamedCheck::kNativePrecision, comparison);
    if (comparison.agrees()) continue;
    const auto got = read_scalars(pass_context.subject.module, before, bytes);
    std::vector<ExpectedScalar> expected(got.size(), ExpectedScalar{.bound = std::numeric_limits<double>::infinity()});
    for (std::size_t k = 0; k < places.size(); ++k)
      expected[places[k]] = outputs[p]->scalars[k];
    report_mismatches(pass_context, NamedCheck::kNativePrecision, *test_launch,
                      pass_context.subject.kernel.variables[p].name, before, got, expected, comparison, verdict);
  }
}

/// The scalars of a dense gradient that are known or nonzero, and some others, ascending.
std::vector<std::size_t> telling_scalars(const std::map<std::size_t, ExpectedScalar>& known, const ir::Argument& layout,
                                         std::size_t components, std::span<const std::byte> bytes) {
  constexpr std::size_t kStretch = 256;
  static constexpr std::array<std::byte, kStretch> kZeros{};
  std::vector<std::size_t> numbers;
  for (const auto& [number, expected] : known)
    numbers.push_back(number);
  const std::size_t element = bytes.empty() ? 1 : static_cast<std::size_t>(layout.strides.back());
  for (std::size_t at = 0; at < bytes.size(); at += kStretch) {
    const std::size_t length = std::min(kStretch, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, kZeros.data(), length) == 0) continue;
    for (std::size_t e = at / element; e * element < at + length; ++e) {
      for (std::size_t k = 0; k < components; ++k)
        numbers.push_back(e * components + k);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void judge_backward_size(const PassContext& pass_context, const DrawnLaunch& drawn) {
  PassVerdict& verdict = pass_context.judgment.backward;
  const InputSet set = seeded(pass_context, drawn);
  if (!set.reference.is_complete || !set.has_conclusive_gradient(Precision::kNative)) return;
  const auto test_launch = launched(
      pass_context, backends::Pass::kBackward, drawn.launch,
      make_gradient_arguments(pass_context.subject, set, Precision::kNative, InitialGradient::kZero, 1), verdict);
  if (!test_launch) return;
  const auto accessed =
      expected_accessed_gradients(pass_context.subject, set, set.reference, Precision::kNative, InitialGradient::kZero);
  const ir::Function& backward = pass_context.subject.adjoint->module.kernels[0];
  const std::vector<bool> is_compared = compared_gradients(pass_context);
  for (std::size_t g = 0; g < accessed.size(); ++g) {
    if (!is_compared[g]) continue;
    const std::size_t array = test_launch->launcher.parameters() + g;
    const ir::Argument& before = *test_launch->launcher.arrays()[array].initial_content;
    const auto components = ir::scalar_components(pass_context.subject.module, before.type.element());
    const auto bytes = test_launch->launcher.bytes(pass_context.configuration.session, array);
    ComparisonResult comparison;
    for (const std::size_t number : telling_scalars(accessed[g], before, components.size(), bytes)) {
      const auto known = accessed[g].find(number);
      const ExpectedScalar expected =
          known == accessed[g].end() ? ExpectedScalar{.informative_bound_scale = 0} : known->second;
      const ComputedScalar got = read_scalar(components, before, bytes, number);
      // Without a contribution from the sample the content is unchanged, unless another thread multiplies its zero
      // cotangent by an infinite derivative.
      const bool untouched = expected.informative_bound_scale == 0 && expected.value == got.value;
      if (untouched || (drawn.launch.threads() > 0 && !std::isfinite(got.value))) continue;
      comparison.add(number, got, expected);
    }
    verdict.count(NamedCheck::kNativePrecision, comparison);
    if (comparison.agrees()) continue;
    const auto expected =
        expected_gradients(pass_context.subject, set, set.reference, Precision::kNative, InitialGradient::kZero);
    report_mismatches(pass_context, NamedCheck::kNativePrecision, *test_launch,
                      backward.var(pass_context.subject.adjoint->gradient_parameters[g].gradient_parameter).name,
                      before, read_scalars(pass_context.subject.module, before, bytes), expected[g], comparison,
                      verdict);
  }
}

/// Why the kernel is not well defined for the whole launch; nullopt if it is. The oracle evaluated only a sample;
/// another thread may access memory out of bounds or race.
std::optional<std::string> fault_of(const PassContext& pass_context, const ir::Launch& launch) {
  const reference::OracleRun all{.launch = launch,
                                 .profile = pass_context.configuration.profile,
                                 .uninitialized = pass_context.is_poisoned,
                                 .reports_only_accessed_elements = true};
  const std::vector<reference::Finding> findings = pass_context.subject.oracle.evaluate(all).findings;
  if (findings.empty()) return std::nullopt;
  return reference::describe(findings.front(), pass_context.subject.module, pass_context.subject.kernel);
}

/// That launches are smaller than the large one, in which `reason` shows a fault of the kernel.
Assumption assumption_of_smaller_launches(const std::string& reason) {
  return {.description =
              fmt::format("launches have fewer than {0} threads; in a launch of {0} threads, {1}", kLarge, reason),
          .domain_comment = ""};
}

/// Whether no inputs were found because of a fault that arrays of other extents would not mend.
bool is_fault(const InputDrawFailure& none) {
  using Kind = reference::Finding::Kind;
  if (!none.finding) return false;
  return none.finding->kind == Kind::kRace || none.finding->kind == Kind::kIntegerOverflow ||
         (none.finding->kind == Kind::kOutOfBounds && none.finding->parameter == ir::kNone);
}

/// Whether integer arithmetic overflowed in the last inputs tried.
bool has_overflow(const InputDrawFailure& none) {
  return none.finding && none.finding->kind == reference::Finding::Kind::kIntegerOverflow;
}

/// Judges a launch. Failures are dropped if the kernel is not well defined for the whole launch.
void judge_size(const PassContext& pass_context, const DrawnLaunch& drawn, PassVerdict& verdict,
                void (*judge)(const PassContext&, const DrawnLaunch&)) {
  const PassVerdict before = verdict;
  judge(pass_context, drawn);
  if (!verdict.failed()) return;
  const std::optional<std::string> fault = fault_of(pass_context, drawn.launch);
  if (!fault) return;
  verdict = before;
  verdict.assumptions.push_back(assumption_of_smaller_launches(*fault));
}

}  // namespace

void judge_forward_sizes(const PassContext& pass_context, const std::vector<DrawnLaunch>& launches) {
  for (const DrawnLaunch& drawn : launches) {
    const bool is_certain =
        drawn.launch.threads() == 0 || drawn.reference.decisions.uncertain_decision_counts[Precision::kNative] == 0;
    if (!is_certain) continue;
    judge_size(pass_context, drawn, pass_context.judgment.forward, judge_forward_size);
    if (pass_context.judgment.forward.failed()) return;
  }
}

void judge_backward_sizes(const PassContext& pass_context, const std::vector<DrawnLaunch>& launches) {
  // Chosen by the program: a kernel is judged in the same way under every name.
  const bool chosen = ir::program_key(pass_context.subject.kernel) %
                          pass_context.configuration.policy.kernels_per_large_backward_launch ==
                      0;
  for (const DrawnLaunch& drawn : launches) {
    if (drawn.launch.threads() > 0 && !chosen) continue;
    judge_size(pass_context, drawn, pass_context.judgment.backward, judge_backward_size);
    if (pass_context.judgment.backward.failed()) return;
  }
}

ExtremeSizes draw_sizes(const InputSpace& input_space, const JudgeConfiguration& configuration) {
  ExtremeSizes sizes;
  InputSpace space = input_space.trial();
  // With atomics, an element may depend on threads outside the sample.
  const bool can_be_sampled = !has_atomics(space.parameter_uses());
  for (const std::int32_t size : {0, kLarge}) {
    if (size == kLarge && !(configuration.policy.judges_large_launch && can_be_sampled)) continue;
    DrawRequest request{.seed = configuration.seed, .size = size, .instruction_budget = kSampleBudget};
    const auto draw = [&] {
      return space.draw(request, [&](reference::OracleRun& run) { run.profile = configuration.profile; });
    };
    auto drawn = draw();
    if (const auto* none = std::get_if<InputDrawFailure>(&drawn);
        none != nullptr && has_overflow(*none) && space.has_free_integers()) {
      request.integer_bits = kSmallIntegerBits;
      drawn = draw();
    }
    if (auto* found = std::get_if<DrawnLaunch>(&drawn)) {
      const std::int64_t threads = found->launch.threads();
      if (threads == 0 || (can_be_sampled && threads >= kLarge)) sizes.launches.push_back(std::move(*found));
    } else if (const auto& none = std::get<InputDrawFailure>(drawn); size == kLarge && is_fault(none)) {
      sizes.assumption = assumption_of_smaller_launches(none.message);
    }
  }
  return sizes;
}

}  // namespace assay::harness
