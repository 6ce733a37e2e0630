#include "harness/judge/trial.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <variant>

#include <fmt/format.h>

#include "backends/differing_bits.hpp"

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
    return {fault->kind == kDifferingBits ? Outcome::fail : Outcome::memory_fault, fault->kind};
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

/// One launch of each pass and target stands for all: the first check in the kernel's own types.
bool is_profiled(const Trial& trial) {
  return trial.purpose == Purpose::kCheck && trial.set == 0 && trial.lane == Lane::kNative;
}

Witness witness_of(const Trial& trial) {
  Witness witness{.input_set = trial.set,
                  .lane = device_lane(trial.lane),
                  .threads = trial.experiment.request().threads,
                  .given = {},
                  .array = {},
                  .got = {},
                  .expected = {}};
  for (const PlacedArray& array : trial.experiment.arrays())
    witness.given.push_back({.name = array.role.name, .content = *array.before});
  return witness;
}

/// What was compared. Of a scalar that was not, as one that no thread writes, nothing is expected.
void witness_values(Witness& witness, std::span<const Computed> got, std::span<const Expected> expected,
                    const Comparison& comparison) {
  witness.got.assign(got.begin(), got.end());
  witness.expected.assign(expected.begin(), expected.end());
  auto failed = comparison.failed.begin();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (failed != comparison.failed.end() && *failed == i) ++failed;
    else if (score(got[i], expected[i]).agreement == Agreement::kDiffers)
      witness.expected[i] = {.bound = std::numeric_limits<double>::infinity()};
  }
}

/// Before the verdict is told of a failure: the first one is witnessed.
void bear_witness(PassVerdict& verdict, const Trial& trial) {
  if (!verdict.failed()) verdict.witness = witness_of(trial);
}

}  // namespace

std::vector<Role> roles_of(const Stage& stage, Pass pass) {
  std::vector<Role> roles;
  for (std::size_t p = 0; p < stage.uses.size(); ++p) {
    const ir::ParameterUse& use = stage.uses[p];
    // What the backward pass is given of the forward's results is no poison.
    const bool is_final = pass == Pass::kBackward &&
                          std::ranges::count(stage.subject.adjoint->final_arrays, static_cast<ir::VarId>(p)) > 0;
    roles.push_back({.name = stage.subject.kernel.variables[p].name,
                     .uninitialised = stage.poisoned[p] && !is_final,
                     .read_only = !use.changed() || (pass == Pass::kBackward && !use.read)});
  }
  if (pass == Pass::kForward) return roles;
  for (const passes::GradientParameter& gradient : stage.subject.adjoint->gradients)
    roles.push_back({.name = stage.subject.adjoint->module.kernels[0].var(gradient.gradient).name});
  return roles;
}

bool run_trials(const Stage& stage, std::span<Trial> trials, PassVerdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<LaunchRequest> requests;
  requests.reserve(trials.size());
  for (const Trial& trial : trials) {
    requests.push_back(trial.experiment.request());
    requests.back().target = stage.target;
    requests.back().time_limit = stage.bench.time_limit;
    requests.back().profile = is_profiled(trial);
  }
  // A kernel that hangs or crashes does it once and not for every trial.
  if (!requests.empty()) requests.front().decisive = true;
  std::vector<RunOutcome> outcomes = stage.bench.session.run(requests);
  stage.judgement.run_ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  bool completed = true;
  for (std::size_t t = 0; t < outcomes.size(); ++t) {
    trials[t].outcome = std::move(outcomes[t]);
    if (auto* done = std::get_if<Completed>(&trials[t].outcome)) {
      verdict.sizes.insert(requests[t].threads);
      if (done->profile) verdict.profiles.push_back(std::move(*done->profile));
      continue;
    }
    completed = false;
    const NamedOutcome named = classify(trials[t].outcome);
    bear_witness(verdict, trials[t]);
    verdict.fail(named.outcome, named.kind,
                 fmt::format("{} on input set {} ({} threads)", describe(trials[t].outcome), trials[t].set,
                             trials[t].experiment.request().threads));
    if (const auto* crash = std::get_if<Crashed>(&trials[t].outcome)) verdict.log = crash->output;
    if (const auto* fault = std::get_if<MemoryFault>(&trials[t].outcome)) verdict.keep(fault->findings);
  }
  return completed;
}

std::optional<ir::Launch> backward_launch(const Stage& stage, std::size_t set, Lane lane, PassVerdict& verdict) {
  ir::Launch launch = stage.sets[set].launch[lane];
  const std::vector<ir::VarId>& finals = stage.subject.adjoint->final_arrays;
  if (finals.empty()) return launch;
  Result<Experiment> placed = Experiment::place(
      stage.bench.session, stage.subject.module_in(lane), stage.kernel, backends::Pass::kForward, device_lane(lane),
      lent(stage.sets[set].launch[lane]), {}, roles_of(stage, backends::Pass::kForward), std::byte{0});
  if (!placed.ok()) {
    verdict.fail(Outcome::resource_error, "memory", placed.error().message);
    return std::nullopt;
  }
  Trial forward{.purpose = Purpose::kOtherPoison, .set = set, .lane = lane, .experiment = placed.take()};
  if (!run_trials(stage, {&forward, 1}, verdict)) return std::nullopt;
  for (const ir::VarId array : finals) {
    const auto p = static_cast<std::size_t>(array);
    const auto now = forward.experiment.bytes(stage.bench.session, p);
    launch.arguments[p].bytes.assign(now.begin(), now.end());
  }
  return launch;
}

void check_memory(const Stage& stage, const Trial& trial, PassVerdict& verdict) {
  const auto& arrays = trial.experiment.arrays();
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (!arrays[a].placed) continue;
    const Role& role = arrays[a].role;
    if (!trial.experiment.guards_intact(stage.bench.session, a)) {
      bear_witness(verdict, trial);
      verdict.fail(Outcome::memory_fault, "out_of_bounds",
                   fmt::format("memory beside '{}' was overwritten on input set {}", role.name, trial.set));
    }
    if (role.read_only && !trial.experiment.unmodified(stage.bench.session, a)) {
      bear_witness(verdict, trial);
      verdict.fail(
          Outcome::memory_fault, "input_modified",
          fmt::format("'{}', which this pass must not change, was modified on input set {}", role.name, trial.set));
    }
  }
}

void report_mismatches(const Stage& stage, Tier tier, const Trial& trial, const std::string& array,
                       const ir::Argument& layout, std::span<const Computed> got, std::span<const Expected> expected,
                       const Comparison& comparison, PassVerdict& verdict) {
  static constexpr const char* kNames[] = {"t0", "t1", "t2", "t3", "t5", "devices"};
  const auto leaves = ir::leaves_of(stage.subject.module_in(trial.lane), layout.type.element());
  for (const std::size_t position : comparison.failed) {
    const ir::Scalar scalar = leaves[position % leaves.size()].scalar;
    Mismatch mismatch;
    mismatch.tier = kNames[static_cast<int>(tier)];
    mismatch.array = array;
    mismatch.index = coordinates(layout, static_cast<std::int64_t>(position / leaves.size()));
    if (leaves.size() > 1) mismatch.index.push_back(static_cast<std::int64_t>(position % leaves.size()));
    mismatch.input_set = static_cast<std::int64_t>(trial.set);
    const Expected& wanted = expected[position];
    if (wanted.is_integer) {
      mismatch.expected = exact(wanted.integer);
      mismatch.got = exact(got[position].integer);
      mismatch.bound = exact(std::int64_t{0});
    } else {
      mismatch.expected = exact(static_cast<double>(wanted.value));
      mismatch.got = exact_in(scalar, got[position].value);
      mismatch.bound = exact(wanted.bound);
    }
    mismatch.rho = score(got[position], wanted).rho;
    if (!verdict.failed()) {
      bear_witness(verdict, trial);
      verdict.witness->array = array;
      witness_values(*verdict.witness, got, expected, comparison);
      const bool by_peer = tier == Tier::kDevices;
      verdict.fail(
          Outcome::fail, by_peer ? "devices_disagree" : "mismatch",
          fmt::format("{}[{}] is {}, {} {} within {} ({}, {})", array, fmt::join(mismatch.index, ", "),
                      mismatch.got.text, by_peer ? fmt::format("on the device {}", stage.bench.peer->name) : "expected",
                      mismatch.expected.text, mismatch.bound.text,
                      trial.lane == Lane::kLift ? "double lift" : "native precision",
                      fmt::format("input set {}", trial.set)));
    }
    verdict.keep(std::move(mismatch));
  }
}

}  // namespace assay::harness
