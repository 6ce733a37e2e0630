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

#include "harness/judge/trial.hpp"
#include "ir/builder.hpp"
#include "ir/support/hash.hpp"

namespace assay::harness {
namespace {

constexpr std::int32_t kLarge = 65'539;  // prime
/// Of the oracle on the sampled threads. A kernel that does much more in each thread gets no large launch.
constexpr std::int64_t kSampleBudget = 50'000;

/// The launch as an input set whose seeds are zero but for the cells that the sample writes.
InputSet seeded(const Stage& stage, const Drawn& drawn) {
  InputSet set;
  set.native_width = native_width_of(stage.subject);
  set.launch[Lane::kNative] = drawn.launch;
  set.seeds.resize(drawn.launch.arguments.size());
  set.prefills.resize(drawn.launch.arguments.size());
  for (std::size_t p = 0; p < set.seeds.size(); ++p) {
    const auto& output = drawn.reference.outputs[p];
    if (!output) continue;
    set.seeds[p].resize(leaf_count(stage.subject, drawn.launch.arguments[p]));
    for (const std::size_t cell : output->places) {
      const ir::Scalar scalar = output->leaves[cell % output->leaves.size()];
      if (ir::is_float(scalar)) set.seeds[p][cell] = ir::round_to(scalar, dense_value(cell, p));
    }
  }
  // Seeds of a large array are no small thing to copy.
  reference::Run run{.launch = drawn.launch,
                     .profile = stage.bench.profile,
                     .gradient = true,
                     .seeds = std::move(set.seeds),
                     .uninitialised = stage.poisoned,
                     .order = sampled_threads(drawn.launch.threads(), stage.bench.seed),
                     .touched_only = true};
  set.reference = stage.subject.oracle.evaluate(run);
  set.seeds = std::move(run.seeds);
  return set;
}

/// One launch of a pass, its memory checked. Empty, and a verdict, if it did not complete.
std::optional<Trial> launched(const Stage& stage, backends::Pass pass, const ir::Launch& launch,
                              std::vector<ir::Argument> gradients, PassVerdict& verdict) {
  stage.bench.session.reset();
  std::vector<Role> roles = roles_of(stage, pass);
  for (Role& role : roles)
    role.read_only |= launch.threads() == 0;
  Result<Experiment> placed = Experiment::place(
      stage.bench.session, stage.subject.module, stage.kernel, pass, backends::Lane::kNative, lent(launch),
      std::move(gradients), roles, std::byte{0xFF}, {.sample = sampled_threads(launch.threads(), stage.bench.seed)});
  if (!placed.ok()) {
    verdict.fail(Outcome::resource_error, "memory", placed.error().message);
    return std::nullopt;
  }
  Trial trial{.set = stage.sets.size(), .lane = Lane::kNative, .experiment = placed.take()};
  if (!run_trials(stage, {&trial, 1}, verdict)) return std::nullopt;
  check_memory(stage, trial, verdict);
  return trial;
}

void judge_forward_size(const Stage& stage, const Drawn& drawn) {
  PassVerdict& verdict = stage.judgement.forward;
  const auto trial = launched(stage, backends::Pass::kForward, drawn.launch, {}, verdict);
  if (!trial || drawn.launch.threads() == 0) return;
  const auto outputs = expected_outputs(drawn.reference, Lane::kNative);
  for (std::size_t p = 0; p < outputs.size(); ++p) {
    if (!outputs[p]) continue;
    const std::vector<std::size_t>& places = drawn.reference.outputs[p]->places;
    const ir::Argument& before = *trial->experiment.arrays()[p].before;
    const auto leaves = ir::leaves_of(stage.subject.module, before.type.element());
    const auto bytes = trial->experiment.bytes(stage.bench.session, p);
    Comparison comparison;
    for (std::size_t k = 0; k < places.size(); ++k)
      comparison.add(places[k], read_scalar(leaves, before, bytes, places[k]), outputs[p]->scalars[k]);
    verdict.count(Tier::kT3, comparison);
    if (comparison.agrees()) continue;
    const auto got = read_scalars(stage.subject.module, before, bytes);
    std::vector<Expected> expected(got.size(), Expected{.bound = std::numeric_limits<double>::infinity()});
    for (std::size_t k = 0; k < places.size(); ++k)
      expected[places[k]] = outputs[p]->scalars[k];
    report_mismatches(stage, Tier::kT3, *trial, stage.subject.kernel.variables[p].name, before, got, expected,
                      comparison, verdict);
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

void judge_backward_size(const Stage& stage, const Drawn& drawn) {
  PassVerdict& verdict = stage.judgement.backward;
  const InputSet set = seeded(stage, drawn);
  if (!set.reference.complete || !set.conclusive_gradient(Lane::kNative)) return;
  const auto trial = launched(stage, backends::Pass::kBackward, drawn.launch,
                              gradient_arguments(stage.subject, set, Lane::kNative, Start::kZero, 1), verdict);
  if (!trial) return;
  const auto touched = touched_gradients(stage.subject, set, set.reference, Lane::kNative, Start::kZero);
  const ir::Function& backward = stage.subject.adjoint->module.kernels[0];
  for (std::size_t g = 0; g < touched.size(); ++g) {
    const std::size_t array = trial->experiment.parameters() + g;
    const ir::Argument& before = *trial->experiment.arrays()[array].before;
    const auto leaves = ir::leaves_of(stage.subject.module, before.type.element());
    const auto bytes = trial->experiment.bytes(stage.bench.session, array);
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
    const auto expected = expected_gradients(stage.subject, set, set.reference, Lane::kNative, Start::kZero);
    report_mismatches(stage, Tier::kT3, *trial, backward.var(stage.subject.adjoint->gradients[g].gradient).name, before,
                      read_scalars(stage.subject.module, before, bytes), expected[g], comparison, verdict);
  }
}

/// Whether the source says what the whole launch does. The oracle has run a sample of it; a device that runs all
/// threads may meet one that takes a branch of its own, to an element that no array has or that another thread writes.
bool is_defined(const Stage& stage, const ir::Launch& launch) {
  const reference::Run all{
      .launch = launch, .profile = stage.bench.profile, .uninitialised = stage.poisoned, .touched_only = true};
  return stage.subject.oracle.evaluate(all).findings.empty();
}

/// Judges a launch; nothing is said of one that speaks against the kernel and is not defined.
void judge_size(const Stage& stage, const Drawn& drawn, PassVerdict& verdict,
                void (*judge)(const Stage&, const Drawn&)) {
  const PassVerdict before = verdict;
  judge(stage, drawn);
  if (verdict.failed() && !is_defined(stage, drawn.launch)) verdict = before;
}

}  // namespace

void judge_forward_sizes(const Stage& stage, const std::vector<Drawn>& launches) {
  for (const Drawn& drawn : launches) {
    const bool is_certain = drawn.launch.threads() == 0 || drawn.reference.decisions.uncertain[Lane::kNative] == 0;
    if (!is_certain) continue;
    judge_size(stage, drawn, stage.judgement.forward, judge_forward_size);
    if (stage.judgement.forward.failed()) return;
  }
}

void judge_backward_sizes(const Stage& stage, const std::vector<Drawn>& launches) {
  const bool chosen = fnv1a(stage.subject.kernel.name) % stage.bench.policy.large_backward_one_in == 0;
  for (const Drawn& drawn : launches) {
    if (drawn.launch.threads() > 0 && !chosen) continue;
    judge_size(stage, drawn, stage.judgement.backward, judge_backward_size);
    if (stage.judgement.backward.failed()) return;
  }
}

std::vector<Drawn> draw_sizes(InputSpace& space, const Bench& bench) {
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
