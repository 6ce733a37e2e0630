// Launches of 0 threads and of more than 65,535, in native precision. Of the large one the oracle runs a sample of the
// threads: forward, the cells that they write are compared; backward, only these cells carry a seed, so that the other
// threads add zeros and the sample's gradient is the launch's.
#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/judge/trial.hpp"
#include "ir/builder.hpp"
#include "ir/support/hash.hpp"

namespace assay::harness {
namespace {

constexpr std::int32_t kLarge = 65'539;  // prime
/// Of the oracle on the sampled threads. A kernel that does much more in each thread gets no large launch.
constexpr std::int64_t kSampleBudget = 50'000;

/// Whether the sample tells what its cells must hold: with atomics they may depend on threads outside of it.
bool can_be_sampled(const Stage& stage, const Drawn& drawn) {
  return drawn.launch.threads() == 0 || !has_atomics(stage.uses);
}

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
    for (std::size_t i = 0; i < output->elements.size(); ++i) {
      const ir::Scalar scalar = output->leaves[i % output->leaves.size()];
      const bool seeded = output->elements[i].written && ir::is_float(scalar);
      set.seeds[p].push_back(seeded ? ir::round_to(scalar, dense_value(i, p)) : 0);
    }
  }
  set.reference = stage.subject.oracle.evaluate({.launch = drawn.launch,
                                                 .profile = stage.bench.profile,
                                                 .gradient = true,
                                                 .seeds = set.seeds,
                                                 .uninitialised = stage.poisoned,
                                                 .order = sampled_threads(drawn.launch.threads(), stage.bench.seed)});
  return set;
}

/// One launch of a pass, its memory checked. Empty, and a verdict, if it did not complete.
std::optional<Trial> launched(const Stage& stage, backends::Pass pass, const ir::Launch& launch,
                              const std::vector<ir::Argument>& gradients, PassVerdict& verdict) {
  stage.bench.session.reset();
  std::vector<Role> roles = roles_of(stage, pass);
  for (Role& role : roles)
    role.read_only |= launch.threads() == 0;
  Result<Experiment> placed = Experiment::place(stage.bench.session, stage.kernel, pass, backends::Lane::kNative,
                                                launch, gradients, roles, std::byte{0xFF});
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
    const ir::Argument& before = trial->experiment.arrays()[p].before;
    const auto got = read_scalars(stage.subject.module, before, trial->experiment.bytes(stage.bench.session, p));
    Comparison comparison;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (outputs[p]->written[i]) comparison.add(i, got[i], outputs[p]->scalars[i]);
    }
    verdict.count(Tier::kT3, comparison);
    report_mismatches(stage, Tier::kT3, *trial, stage.subject.kernel.variables[p].name, before, got,
                      outputs[p]->scalars, comparison, verdict);
  }
}

void judge_backward_size(const Stage& stage, const Drawn& drawn) {
  PassVerdict& verdict = stage.judgement.backward;
  const InputSet set = seeded(stage, drawn);
  if (!set.reference.complete || !set.conclusive_gradient(Lane::kNative)) return;
  const auto trial = launched(stage, backends::Pass::kBackward, drawn.launch,
                              gradient_arguments(stage.subject, set, Lane::kNative, Start::kZero, 1), verdict);
  if (!trial) return;
  const auto expected = expected_gradients(stage.subject, set, set.reference, Lane::kNative, Start::kZero);
  const ir::Function& backward = stage.subject.adjoint->module.kernels[0];
  for (std::size_t g = 0; g < expected.size(); ++g) {
    const std::size_t array = trial->experiment.parameters() + g;
    const ir::Argument& before = trial->experiment.arrays()[array].before;
    const auto got = read_scalars(stage.subject.module, before, trial->experiment.bytes(stage.bench.session, array));
    Comparison comparison;
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Where the sample adds nothing the content stays, but that a thread outside of it may multiply its zero seed by
      // an infinite derivative.
      const bool untouched = expected[g][i].scale == 0 && expected[g][i].value == got[i].value;
      if (untouched || (drawn.launch.threads() > 0 && !std::isfinite(got[i].value))) continue;
      comparison.add(i, got[i], expected[g][i]);
    }
    verdict.count(Tier::kT3, comparison);
    report_mismatches(stage, Tier::kT3, *trial, backward.var(stage.subject.adjoint->gradients[g].gradient).name, before,
                      got, expected[g], comparison, verdict);
  }
}

}  // namespace

void judge_forward_sizes(const Stage& stage, const std::vector<Drawn>& launches) {
  for (const Drawn& drawn : launches) {
    const bool is_certain = drawn.launch.threads() == 0 || drawn.reference.decisions.uncertain[Lane::kNative] == 0;
    if (!can_be_sampled(stage, drawn) || !is_certain) continue;
    judge_forward_size(stage, drawn);
    if (stage.judgement.forward.failed()) return;
  }
}

void judge_backward_sizes(const Stage& stage, const std::vector<Drawn>& launches) {
  const bool chosen = fnv1a(stage.subject.kernel.name) % stage.bench.policy.large_backward_one_in == 0;
  for (const Drawn& drawn : launches) {
    if (!can_be_sampled(stage, drawn) || (drawn.launch.threads() > 0 && !chosen)) continue;
    judge_backward_size(stage, drawn);
    if (stage.judgement.backward.failed()) return;
  }
}

std::vector<Drawn> draw_sizes(InputSpace& space, const Bench& bench) {
  std::vector<Drawn> launches;
  for (const std::int32_t size : {0, kLarge}) {
    if (size == kLarge && !bench.policy.large_launch) continue;
    const DrawRequest request{.seed = bench.seed, .size = size, .instruction_budget = kSampleBudget};
    auto drawn = space.draw(request, [&](reference::Run& run) { run.profile = bench.profile; });
    if (auto* found = std::get_if<Drawn>(&drawn)) {
      const std::int64_t threads = found->launch.threads();
      if (threads == 0 || threads >= kLarge) launches.push_back(std::move(*found));
    }
  }
  return launches;
}

}  // namespace assay::harness
