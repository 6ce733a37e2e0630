// Launches of 0 threads and of more than 65,535, in native precision. Of the large one the oracle runs a sample of the
// threads: forward, the cells that they write are compared; backward, only these cells carry a seed, so that the other
// threads add zeros and the sample's gradient is the launch's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "harness/judge/context.hpp"
#include "ir/builder.hpp"
#include "support/hash.hpp"

namespace assay::harness {
namespace {

constexpr std::int32_t kLarge = 65'539;  // prime
/// Of the oracle on the sampled threads. A kernel that does much more in each thread gets no large launch.
constexpr std::int64_t kSampleBudget = 50'000;

/// The launch as an input set whose seeds are zero but for the cells that the sample writes.
InputSet seeded(const PassContext& pass_context, const Drawn& drawn) {
  InputSet set;
  set.native_width = native_width_of(pass_context.subject);
  set.launch[Precision::kNative] = drawn.launch;
  set.seeds.resize(drawn.launch.arguments.size());
  set.initial_gradients.resize(drawn.launch.arguments.size());
  for (std::size_t p = 0; p < set.seeds.size(); ++p) {
    const auto& output = drawn.reference.outputs[p];
    if (!output) continue;
    set.seeds[p].resize(component_count(pass_context.subject, drawn.launch.arguments[p]));
    for (const std::size_t cell : output->places) {
      const ir::Scalar scalar = output->leaves[cell % output->leaves.size()];
      if (ir::is_float(scalar)) set.seeds[p][cell] = ir::round_to(scalar, dense_value(cell, p));
    }
  }
  // Seeds of a large array are no small thing to copy.
  reference::Run run{.launch = drawn.launch,
                     .profile = pass_context.bench.profile,
                     .gradient = true,
                     .seeds = std::move(set.seeds),
                     .uninitialised = pass_context.poisoned,
                     .order = sampled_threads(drawn.launch.threads(), pass_context.bench.seed),
                     .touched_only = true};
  set.reference = pass_context.subject.oracle.evaluate(run);
  set.seeds = std::move(run.seeds);
  return set;
}

/// One launch of a pass, its memory checked. Empty, and a verdict, if it did not complete.
std::optional<JudgeContext> launched(const PassContext& pass_context, backends::Pass pass, const ir::Launch& launch,
                                     std::vector<ir::Argument> gradients, PassVerdict& verdict) {
  pass_context.bench.session.reset();
  std::vector<Role> roles = roles_of(pass_context, pass);
  for (Role& role : roles)
    role.read_only |= launch.threads() == 0;
  Result<KernelLauncher> placed =
      KernelLauncher::place(pass_context.bench.session, pass_context.subject.module, pass_context.kernel, pass,
                            backends::Precision::kNative, lent(launch), std::move(gradients), roles, std::byte{0xFF},
                            {.sample = sampled_threads(launch.threads(), pass_context.bench.seed)});
  if (!placed.ok()) {
    verdict.fail(Outcome::resource_error, "memory", placed.error().message);
    return std::nullopt;
  }
  JudgeContext context{.set = pass_context.sets.size(), .precision = Precision::kNative, .launcher = placed.take()};
  if (!run_trials(pass_context, {&context, 1}, verdict)) return std::nullopt;
  check_memory(pass_context, context, verdict);
  return context;
}

void judge_forward_size(const PassContext& pass_context, const Drawn& drawn) {
  PassVerdict& verdict = pass_context.judgement.forward;
  const auto context = launched(pass_context, backends::Pass::kForward, drawn.launch, {}, verdict);
  if (!context || drawn.launch.threads() == 0) return;
  const auto outputs = expected_outputs(drawn.reference, Precision::kNative);
  for (std::size_t p = 0; p < outputs.size(); ++p) {
    if (!outputs[p]) continue;
    const std::vector<std::size_t>& places = drawn.reference.outputs[p]->places;
    const ir::Argument& before = *context->launcher.arrays()[p].before;
    const auto leaves = ir::leaves_of(pass_context.subject.module, before.type.element());
    const auto bytes = context->launcher.bytes(pass_context.bench.session, p);
    Comparison comparison;
    for (std::size_t k = 0; k < places.size(); ++k)
      comparison.add(places[k], read_scalar(leaves, before, bytes, places[k]), outputs[p]->scalars[k]);
    verdict.count(Tier::kT3, comparison);
    if (comparison.agrees()) continue;
    const auto got = read_scalars(pass_context.subject.module, before, bytes);
    std::vector<Expected> expected(got.size(), Expected{.bound = std::numeric_limits<double>::infinity()});
    for (std::size_t k = 0; k < places.size(); ++k)
      expected[places[k]] = outputs[p]->scalars[k];
    report_mismatches(pass_context, Tier::kT3, *context, pass_context.subject.kernel.variables[p].name, before, got,
                      expected, comparison, verdict);
  }
}

/// The scalars of a dense gradient that are known or not zero, and some that are neither, ascending.
std::vector<std::size_t> telling_scalars(const std::map<std::size_t, Expected>& known, const ir::Argument& layout,
                                         std::size_t leaves, std::span<const std::byte> bytes) {
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
      for (std::size_t k = 0; k < leaves; ++k)
        numbers.push_back(e * leaves + k);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void judge_backward_size(const PassContext& pass_context, const Drawn& drawn) {
  PassVerdict& verdict = pass_context.judgement.backward;
  const InputSet set = seeded(pass_context, drawn);
  if (!set.reference.complete || !set.conclusive_gradient(Precision::kNative)) return;
  const auto context =
      launched(pass_context, backends::Pass::kBackward, drawn.launch,
               gradient_arguments(pass_context.subject, set, Precision::kNative, Start::kZero, 1), verdict);
  if (!context) return;
  const auto touched = touched_gradients(pass_context.subject, set, set.reference, Precision::kNative, Start::kZero);
  const ir::Function& backward = pass_context.subject.adjoint->module.kernels[0];
  for (std::size_t g = 0; g < touched.size(); ++g) {
    const std::size_t array = context->launcher.parameters() + g;
    const ir::Argument& before = *context->launcher.arrays()[array].before;
    const auto leaves = ir::leaves_of(pass_context.subject.module, before.type.element());
    const auto bytes = context->launcher.bytes(pass_context.bench.session, array);
    Comparison comparison;
    for (const std::size_t number : telling_scalars(touched[g], before, leaves.size(), bytes)) {
      const auto known = touched[g].find(number);
      const Expected expected = known == touched[g].end() ? Expected{.scale = 0} : known->second;
      const Computed got = read_scalar(leaves, before, bytes, number);
      // Where the sample adds nothing the content stays, but that a thread outside of it may multiply its zero seed by
      // an infinite derivative.
      const bool untouched = expected.scale == 0 && expected.value == got.value;
      if (untouched || (drawn.launch.threads() > 0 && !std::isfinite(got.value))) continue;
      comparison.add(number, got, expected);
    }
    verdict.count(Tier::kT3, comparison);
    if (comparison.agrees()) continue;
    const auto expected =
        expected_gradients(pass_context.subject, set, set.reference, Precision::kNative, Start::kZero);
    report_mismatches(pass_context, Tier::kT3, *context,
                      backward.var(pass_context.subject.adjoint->gradients[g].gradient).name, before,
                      read_scalars(pass_context.subject.module, before, bytes), expected[g], comparison, verdict);
  }
}

/// Whether the source says what the whole launch does. The oracle has run a sample of it; a device that runs all
/// threads may meet one that takes a branch of its own, to an element that no array has or that another thread writes.
bool is_defined(const PassContext& pass_context, const ir::Launch& launch) {
  const reference::Run all{.launch = launch,
                           .profile = pass_context.bench.profile,
                           .uninitialised = pass_context.poisoned,
                           .touched_only = true};
  return pass_context.subject.oracle.evaluate(all).findings.empty();
}

/// Judges a launch; nothing is said of one that speaks against the kernel and is not defined.
void judge_size(const PassContext& pass_context, const Drawn& drawn, PassVerdict& verdict,
                void (*judge)(const PassContext&, const Drawn&)) {
  const PassVerdict before = verdict;
  judge(pass_context, drawn);
  if (verdict.failed() && !is_defined(pass_context, drawn.launch)) verdict = before;
}

}  // namespace

void judge_forward_sizes(const PassContext& pass_context, const std::vector<Drawn>& launches) {
  for (const Drawn& drawn : launches) {
    const bool is_certain = drawn.launch.threads() == 0 || drawn.reference.decisions.uncertain[Precision::kNative] == 0;
    if (!is_certain) continue;
    judge_size(pass_context, drawn, pass_context.judgement.forward, judge_forward_size);
    if (pass_context.judgement.forward.failed()) return;
  }
}

void judge_backward_sizes(const PassContext& pass_context, const std::vector<Drawn>& launches) {
  const bool chosen = fnv1a(pass_context.subject.kernel.name) % pass_context.bench.policy.large_backward_one_in == 0;
  for (const Drawn& drawn : launches) {
    if (drawn.launch.threads() > 0 && !chosen) continue;
    judge_size(pass_context, drawn, pass_context.judgement.backward, judge_backward_size);
    if (pass_context.judgement.backward.failed()) return;
  }
}

std::vector<Drawn> draw_sizes(InputSpace& space, const JudgeConfiguration& bench) {
  std::vector<Drawn> launches;
  // With atomics what a cell must hold may depend on threads outside of the sample.
  const bool can_be_sampled = !has_atomics(space.uses());
  for (const std::int32_t size : {0, kLarge}) {
    if (size == kLarge && !(bench.policy.large_launch && can_be_sampled)) continue;
    const DrawRequest request{.seed = bench.seed, .size = size, .instruction_budget = kSampleBudget};
    auto drawn = space.draw(request, [&](reference::Run& run) { run.profile = bench.profile; });
    if (auto* found = std::get_if<Drawn>(&drawn)) {
      const std::int64_t threads = found->launch.threads();
      if (threads == 0 || (can_be_sampled && threads >= kLarge)) launches.push_back(std::move(*found));
    }
  }
  return launches;
}

}  // namespace assay::harness
