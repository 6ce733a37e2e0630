#include "harness/suite/suite_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "backends/device/build_cache.hpp"
#include "backends/device/registry.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/measuring.hpp"
#include "harness/suite/modes.hpp"

namespace assay::harness {
namespace {

/// `candidate` if the run compares with this device, otherwise empty. Follows --cross-check; by default the run
/// compares with every device of the row, and with the device that gives identical bits only if strict flags determine
/// the bits.
std::string cross_check(std::string_view candidate, bool needs_strict, const SuiteOptions& options) {
  const bool chosen = options.cross_check.empty() ? !needs_strict || options.mode != "default"
                                                  : options.cross_check == candidate || options.cross_check == "both";
  return chosen ? std::string(candidate) : "";
}

backends::DeviceOptions device_options(const SuiteOptions& options) {
  backends::DeviceOptions result = options.device_options;
  result.cross_check = cross_check(backends::device_row(options.device).bit_identical_to, true, options);
  return result;
}

/// The device whose results must agree within both bounds; null if there is none.
Result<std::unique_ptr<backends::Device>> make_cross_check_device(const SuiteOptions& options, RunObserver& events) {
  const std::string name = cross_check(backends::device_row(options.device).agrees_with, false, options);
  if (name.empty()) return std::unique_ptr<backends::Device>();
  auto cross_check_device = backends::make_device(name, options.device_options);
  if (!cross_check_device.ok()) return cross_check_device;
  if (const backends::Capability can = (*cross_check_device)->can_run(); !can.available)
    events.note("cross-check", fmt::format("no cross-check with the device {}: {}", name, can.detail));
  return cross_check_device;
}

void note_unsupported(const Selection& selection, RunObserver& events) {
  for (const Note& note : selection.notes)
    events.note(note.kind, note.text);
  for (const SelectedKernel& kernel : selection.kernels) {
    if (kernel.source.parse_error) events.note("unsupported kernel", kernel.source.parse_error->text());
  }
}

/// The cache of earlier verdicts; null for nondeterministic devices, and for devices with other tables or disabled
/// checks.
std::unique_ptr<VerdictCache> verdicts_for(const SuiteOptions& options, const backends::Device& device,
                                           const RunEnvironment& environment) {
  const backends::DeviceOptions& chosen = options.device_options;
  const bool is_usual =
      backends::device_row(options.device).is_repeatable && chosen.no_checks.empty() && chosen.tables.empty();
  if (options.fresh || options.repeat > 1 || options.measure || !is_usual) return nullptr;
  const std::filesystem::path folder = chosen.cache;
  auto cache = VerdictCache::open(folder.empty() ? backends::default_cache_directory() : folder, device, environment);
  return cache.ok() ? cache.take() : nullptr;
}

Result<RunStart> start_of(const SuiteOptions& options, const std::vector<KernelGroup>& groups,
                          const backends::Device& device, const RunSelection& run_selection,
                          std::vector<Expectation> expectations) {
  Result<RunEnvironment> environment = find_environment(device_options(options));
  if (!environment.ok()) return environment.error();
  RunStart start{.run_id = make_run_id(),
                 .started = utc_now(),
                 .command_line = options.command_line,
                 .seed = options.seed,
                 .environment = environment.take(),
                 .inputs = run_selection.inputs,
                 .shard = run_selection.shard,
                 .expectations = std::move(expectations)};
  for (const KernelGroup& group : groups)
    std::ranges::move(plan_cases(group.sources, device, group.options), std::back_inserter(start.plan));
  return start;
}

}  // namespace

Result<SuiteRun> SuiteRun::prepare(SuiteOptions options, RunObserver& events) {
  std::vector<Expectation> expectations;
  if (!options.expect.empty()) {
    Result<std::vector<Expectation>> read = read_expectations(options.expect);
    if (!read.ok()) return read.error();
    expectations = read.take();
  }
  const Result<std::vector<Mode>> modes = supported_modes(options.device, options.mode, options.optimise);
  if (!modes.ok()) return modes.error();
  const Result<RunSelection> run_selection = select_run(options, *modes);
  if (!run_selection.ok()) return run_selection.error();
  SuiteRun run;
  run.options_ = std::move(options);
  const SuiteOptions& chosen = run.options_;
  if (!chosen.failed_in.empty() && run_selection->selection.kernels.empty()) return run;
  note_unsupported(run_selection->selection, events);
  run.groups_ = groups_of(*run_selection, *modes, chosen);
  if (run.groups_.empty())
    return Error{fmt::format("no test case matches the selectors with --pass {}{}", chosen.pass,
                             chosen.shard.empty() ? "" : " in this shard")};

  auto device = backends::make_device(chosen.device, device_options(chosen));
  if (!device.ok()) return device.error();
  run.device_ = device.take();
  auto cross_check_device = make_cross_check_device(chosen, events);
  if (!cross_check_device.ok()) return cross_check_device.error();
  run.cross_check_device_ = cross_check_device.take();
  Result<RunStart> start = start_of(chosen, run.groups_, *run.device_, *run_selection, std::move(expectations));
  if (!start.ok()) return start.error();
  run.start_ = start.take();
  Result<RecordWriter> writer =
      chosen.resume ? RecordWriter::resume(chosen.output, run.start_) : RecordWriter::create(chosen.output, run.start_);
  if (!writer.ok()) return writer.error();
  run.writer_ = std::make_unique<RecordWriter>(writer.take());
  run.verdicts_ = verdicts_for(chosen, *run.device_, run.start_.environment);
  for (KernelGroup& group : run.groups_) {
    group.options.cross_check_device = run.cross_check_device_.get();
    group.options.verdicts = run.verdicts_.get();
  }
  return run;
}

Result<RunEnd> SuiteRun::judge(RunObserver& events) {
  const auto measuring = MeasurementHook::make(options_, *device_);
  if (!measuring.ok()) return measuring.error();
  (*measuring)->bind(groups_);
  std::unordered_map<std::string, double> costs = expected_costs(groups_, *device_);
  std::erase_if(costs, [&](const auto& one) { return !writer_->is_pending(one.first); });
  events.started(start_, writer_->pending(), std::move(costs));
  const auto judged = run_cases(groups_, *device_, printer(), *writer_,
                                [&](const CaseRecord& record) { events.recorded(record, groups_); });
  if (!judged.ok()) return judged.error();
  return writer_->finish();
}

}  // namespace assay::harness
