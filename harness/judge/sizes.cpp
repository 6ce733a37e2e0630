// Launches of 0 threads and of more than 65,535, forward in native precision. Of the large one the oracle runs a sample
// of the threads, and the cells that they write are compared.
#include <algorithm>
#include <cmath>

#include "harness/judge/trial.hpp"

namespace assay::harness {
namespace {

constexpr std::int32_t kLarge = 65'539;  // prime
/// Of the oracle on the sampled threads. A kernel that does much more in each thread gets no large launch.
constexpr std::int64_t kSampleBudget = 50'000;
}  // namespace

void judge_sizes(const Stage& stage, const std::vector<Drawn>& launches) {
  PassVerdict& verdict = stage.judgement.forward;
  // With atomics a cell may depend on threads outside of the sample.
  const bool atomics = std::any_of(stage.uses.begin(), stage.uses.end(),
                                   [](const ir::ParameterUse& use) { return use.atomically_updated; });
  for (const auto& [launch, sample] : launches) {
    if (launch.threads() > 0 && atomics) continue;
    stage.bench.session.reset();
    std::vector<Role> roles = roles_of(stage, backends::Pass::kForward);
    for (Role& role : roles)
      role.read_only |= launch.threads() == 0;
    Result<Experiment> placed = Experiment::place(stage.bench.session, stage.kernel, backends::Pass::kForward,
                                                  backends::Lane::kNative, launch, {}, roles, std::byte{0xFF});
    if (!placed.ok()) return verdict.fail(Outcome::resource_error, "memory", placed.error().message);
    Trial trial{.set = stage.sets.size(), .lane = Lane::kNative, .experiment = placed.take()};
    if (!run_trials(stage, {&trial, 1}, verdict)) return;
    check_memory(stage, trial, verdict);
    if (launch.threads() == 0) continue;

    if (sample.decisions.uncertain[Lane::kNative] > 0) continue;
    for (std::size_t p = 0; p < sample.outputs.size(); ++p) {
      if (!sample.outputs[p]) continue;
      const auto got = read_scalars(stage.subject.module, trial.experiment.arrays()[p].before,
                                    trial.experiment.bytes(stage.bench.session, p));
      std::vector<Expected> expected(got.size());
      Comparison comparison;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const reference::OutputElement& element = sample.outputs[p]->elements[i];
        if (!element.written) continue;
        const bool real = ir::is_float(sample.outputs[p]->leaves[i % sample.outputs[p]->leaves.size()]);
        expected[i] = {.value = element.value,
                       .bound = element.bound[Lane::kNative],
                       .integer = element.integer,
                       .is_integer = !real};
        comparison.add(i, got[i], expected[i]);
      }
      verdict.count(Tier::kT3, comparison);
      report_mismatches(stage, Tier::kT3, trial, stage.subject.kernel.variables[p].name,
                        trial.experiment.arrays()[p].before, got, expected, comparison, verdict);
    }
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
