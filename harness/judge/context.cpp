#include "harness/judge/context.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <variant>

#include <fmt/format.h>

#include "backends/device/differing_bits.hpp"

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
bool is_profiled(const JudgeContext& context) {
  return context.purpose == Purpose::kCheck && context.set == 0 && context.precision == Precision::kNative;
}

Counterexample counterexample_of(const JudgeContext& context) {
  Counterexample counterexample{.input_set = context.set,
                                .precision = device_precision(context.precision),
                                .threads = context.launcher.request().threads,
                                .given = {},
                                .array = {},
                                .got = {},
                                .expected = {}};
  for (const PlacedArray& array : context.launcher.arrays())
    counterexample.given.push_back({.name = array.role.name, .content = *array.before});
  return counterexample;
}

/// What was compared. Of a scalar that was not, as one that no thread writes, nothing is expected.
void counterexample_values(Counterexample& counterexample, std::span<const Computed> got,
                           std::span<const Expected> expected, const Comparison& comparison) {
  counterexample.got.assign(got.begin(), got.end());
  counterexample.expected.assign(expected.begin(), expected.end());
  auto failed = comparison.failed.begin();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (failed != comparison.failed.end() && *failed == i) ++failed;
    else if (score(got[i], expected[i]).agreement == Agreement::kDiffers)
      counterexample.expected[i] = {.bound = std::numeric_limits<double>::infinity()};
  }
}

/// Before the verdict is told of a failure: the first one is witnessed.
void bear_witness(PassVerdict& verdict, const JudgeContext& context) {
  if (!verdict.failed()) verdict.counterexample = counterexample_of(context);
}

}  // namespace

std::vector<Role> roles_of(const PassContext& pass_context, Pass pass) {
  std::vector<Role> roles;
  for (std::size_t p = 0; p < pass_context.uses.size(); ++p) {
    const ir::ParameterUse& use = pass_context.uses[p];
    // What the backward pass is given of the forward's results is no poison.
    const bool is_final = pass == Pass::kBackward &&
                          std::ranges::count(pass_context.subject.adjoint->final_arrays, static_cast<ir::VarId>(p)) > 0;
    roles.push_back({.name = pass_context.subject.kernel.variables[p].name,
                     .uninitialised = pass_context.poisoned[p] && !is_final,
                     .read_only = !use.changed() || (pass == Pass::kBackward && !use.read)});
  }
  if (pass == Pass::kForward) return roles;
  for (const transforms::GradientParameter& gradient : pass_context.subject.adjoint->gradients)
    roles.push_back({.name = pass_context.subject.adjoint->module.kernels[0].var(gradient.gradient).name});
  return roles;
}

bool run_trials(const PassContext& pass_context, std::span<JudgeContext> trials, PassVerdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<LaunchRequest> requests;
  requests.reserve(trials.size());
  for (const JudgeContext& context : trials) {
    requests.push_back(context.launcher.request());
    requests.back().target = pass_context.target;
    requests.back().time_limit = pass_context.bench.time_limit;
    requests.back().profile = is_profiled(context);
  }
  // A kernel that hangs or crashes does it once and not for every trial.
  if (!requests.empty()) requests.front().decisive = true;
  std::vector<RunOutcome> outcomes = pass_context.bench.session.run(requests);
  pass_context.judgement.run_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
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
                             trials[t].launcher.request().threads));
    if (const auto* crash = std::get_if<Crashed>(&trials[t].outcome)) verdict.log = crash->output;
    if (const auto* fault = std::get_if<MemoryFault>(&trials[t].outcome)) verdict.keep(fault->findings);
  }
  return completed;
}

std::optional<ir::Launch> backward_launch(const PassContext& pass_context, std::size_t set, Precision precision,
                                          PassVerdict& verdict) {
  ir::Launch launch = pass_context.sets[set].launch[precision];
  const std::vector<ir::VarId>& finals = pass_context.subject.adjoint->final_arrays;
  if (finals.empty()) return launch;
  Result<KernelLauncher> placed = KernelLauncher::place(
      pass_context.bench.session, pass_context.subject.module_in(precision), pass_context.kernel,
      backends::Pass::kForward, device_precision(precision), lent(pass_context.sets[set].launch[precision]), {},
      roles_of(pass_context, backends::Pass::kForward), std::byte{0});
  if (!placed.ok()) {
    verdict.fail(Outcome::resource_error, "memory", placed.error().message);
    return std::nullopt;
  }
  JudgeContext forward{.purpose = Purpose::kOtherPoison, .set = set, .precision = precision, .launcher = placed.take()};
  if (!run_trials(pass_context, {&forward, 1}, verdict)) return std::nullopt;
  for (const ir::VarId array : finals) {
    const auto p = static_cast<std::size_t>(array);
    const auto now = forward.launcher.bytes(pass_context.bench.session, p);
    launch.arguments[p].bytes.assign(now.begin(), now.end());
  }
  return launch;
}

void check_memory(const PassContext& pass_context, const JudgeContext& context, PassVerdict& verdict) {
  const auto& arrays = context.launcher.arrays();
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (!arrays[a].placed) continue;
    const Role& role = arrays[a].role;
    if (!context.launcher.guards_intact(pass_context.bench.session, a)) {
      bear_witness(verdict, context);
      verdict.fail(Outcome::memory_fault, "out_of_bounds",
                   fmt::format("memory beside '{}' was overwritten on input set {}", role.name, context.set));
    }
    if (role.read_only && !context.launcher.unmodified(pass_context.bench.session, a)) {
      bear_witness(verdict, context);
      verdict.fail(
          Outcome::memory_fault, "input_modified",
          fmt::format("'{}', which this pass must not change, was modified on input set {}", role.name, context.set));
    }
  }
}

void report_mismatches(const PassContext& pass_context, Tier tier, const JudgeContext& context,
                       const std::string& array, const ir::Argument& layout, std::span<const Computed> got,
                       std::span<const Expected> expected, const Comparison& comparison, PassVerdict& verdict) {
  static constexpr const char* kNames[] = {"t0", "t1", "t2", "t3", "t5", "devices"};
  const auto leaves = ir::leaves_of(pass_context.subject.module_in(context.precision), layout.type.element());
  for (const std::size_t position : comparison.failed) {
    const ir::Scalar scalar = leaves[position % leaves.size()].scalar;
    Mismatch mismatch;
    mismatch.tier = kNames[static_cast<int>(tier)];
    mismatch.array = array;
    mismatch.index = coordinates(layout, static_cast<std::int64_t>(position / leaves.size()));
    if (leaves.size() > 1) mismatch.index.push_back(static_cast<std::int64_t>(position % leaves.size()));
    mismatch.input_set = static_cast<std::int64_t>(context.set);
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
      bear_witness(verdict, context);
      verdict.counterexample->array = array;
      counterexample_values(*verdict.counterexample, got, expected, comparison);
      const bool by_peer = tier == Tier::kDevices;
      verdict.fail(Outcome::fail, by_peer ? "devices_disagree" : "mismatch",
                   fmt::format("{}[{}] is {}, {} {} within {} ({}, {})", array, fmt::join(mismatch.index, ", "),
                               mismatch.got.text,
                               by_peer ? fmt::format("on the device {}", pass_context.bench.peer->name) : "expected",
                               mismatch.expected.text, mismatch.bound.text,
                               context.precision == Precision::kPromoted ? "double lift" : "native precision",
                               fmt::format("input set {}", context.set)));
    }
    verdict.keep(std::move(mismatch));
  }
}

}  // namespace assay::harness
