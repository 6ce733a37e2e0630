#include "harness/suite/suite_run.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "backends/device/build_cache.hpp"
#include "backends/device/registry.hpp"
#include "harness/blame/blame.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/measuring.hpp"
#include "harness/suite/modes.hpp"
#include "support/hash.hpp"

namespace assay::harness {
namespace {

/// `candidate` if the run compares with this device, otherwise empty. Follows --cross-check; by default the run
/// compares with every device of the row, and with the device that gives identical bits only if strict flags determine
/// the bits.
std::string cross_check(std::string_view candidate, bool needs_strict, const SuiteOptions& options) {
  const bool chosen = options.cross_check_device.empty()
                          ? !needs_strict || options.mode != "default"
                          : options.cross_check_device == candidate || options.cross_check_device == "both";
  return chosen ? std::string(candidate) : "";
}

/// The options of every device of the run; a device that another one is compared with uses the first C++ compiler.
backends::DeviceOptions shared_options(const SuiteOptions& options) {
  backends::DeviceOptions result = options.device_options;
  if (!options.builds.compilers.empty()) result.compiler = options.builds.compilers.front();
  return result;
}

backends::DeviceOptions device_options(const SuiteOptions& options) {
  backends::DeviceOptions result = shared_options(options);
  result.cross_check_device =
      cross_check(backends::device_descriptor(options.device).bit_identical_device_name, true, options);
  return result;
}

/// The device whose results must agree within both bounds; null if there is none.
Result<std::unique_ptr<backends::Device>> make_cross_check_device(const SuiteOptions& options, RunObserver& events) {
  const std::string name =
      cross_check(backends::device_descriptor(options.device).agreeing_device_name, false, options);
  if (name.empty()) return std::unique_ptr<backends::Device>();
  auto cross_check_device = backends::make_device(name, shared_options(options));
  if (!cross_check_device.ok()) return cross_check_device;
  if (const backends::Capability can = (*cross_check_device)->can_run(); !can.is_available)
    events.on_note("cross-check", fmt::format("no cross-check with the device {}: {}", name, can.tool_or_reason));
  return cross_check_device;
}

void note_unsupported(const Selection& selection, RunObserver& events) {
  for (const SelectionNote& note : selection.notes)
    events.on_note(note.kind, note.text);
  for (const SelectedKernel& kernel : selection.kernels) {
    if (kernel.source.parse_error) events.on_note("unsupported kernel", kernel.source.parse_error->text());
  }
}

/// The cache of earlier verdicts; null for nondeterministic devices, and for devices with other tables or disabled
/// checks.
std::unique_ptr<VerdictCache> verdicts_for(const SuiteOptions& options, const backends::Device& device,
                                           const RunEnvironment& environment) {
  const backends::DeviceOptions& chosen = options.device_options;
  const bool is_usual =
      device.is_repeatable() && chosen.disabled_checks.empty() && chosen.approximation_tables_file.empty();
  if (options.ignores_cached_verdicts || options.repetition_count > 1 || options.measure_options || !is_usual)
    return nullptr;
  const std::filesystem::path folder = chosen.cache_directory;
  auto cache = VerdictCache::open(folder.empty() ? backends::default_cache_directory() : folder, device, environment);
  return cache.ok() ? cache.take() : nullptr;
}

/// Finds where failures come from. Takes seconds for each case, so that only the first cases of a run are examined.
class FailureExaminer {
 public:
  explicit FailureExaminer(int cases) : remaining_(cases) {}

  /// `device_options` are those of the device that judged the case.
  void examine(CaseRecord& record, const KernelSource& source, const RunOptions& options,
               const backends::DeviceOptions& device_options) {
    if (!blame::can_examine(record) || remaining_.fetch_sub(1) <= 0) return;
    record.failure_origin = blame::find_culprit(record, source, printer(), options, device_options);
    record.message += fmt::format("; blamed on: {}, because {}", record.failure_origin->responsible_component,
                                  record.failure_origin->reason);
  }

 private:
  std::atomic<int> remaining_;  ///< number of cases that may still be examined
};

/// The start record, without the plan. `environment_options` are those of the other devices that it describes.
Result<RunStart> start_of(const SuiteOptions& options, const backends::DeviceOptions& environment_options,
                          std::span<backends::Device* const> devices, const RunSelection& run_selection,
                          std::vector<ExpectedFailure> expectations) {
  Result<RunEnvironment> environment = find_environment(environment_options, devices);
  if (!environment.ok()) return environment.error();
  return RunStart{.run_id = make_run_id(),
                  .start_time = utc_now(),
                  .command_line = options.command_line,
                  .seed = options.seed,
                  .environment = environment.take(),
                  .inputs_hash = run_selection.inputs_hash,
                  .shard = run_selection.shard,
                  .expectations = std::move(expectations)};
}

/// The options of each device of the run.
std::vector<SuiteOptions> options_by_device(const SuiteOptions& options) {
  std::vector<SuiteOptions> result{options};
  result.front().additional_devices.clear();
  for (const std::string& device : options.additional_devices) {
    result.push_back(result.front());
    result.back().device = device;
  }
  return result;
}

}  // namespace

Result<SuiteRun> SuiteRun::prepare(SuiteOptions options, RunObserver& events) {
  std::vector<ExpectedFailure> expectations;
  if (!options.expectations_file.empty()) {
    Result<std::vector<ExpectedFailure>> read = read_expectations(options.expectations_file);
    if (!read.ok()) return read.error();
    expectations = read.take();
  }
  SuiteRun run;
  RunSelection whole;  // of the first device, with the inputs of all
  bool is_judged_before = false;
  for (SuiteOptions& one : options_by_device(options)) {
    RunSelection run_selection;
    one.follows_another_device = is_judged_before;
    Result<DeviceRun> part = part_of(std::move(one), run_selection, events);
    if (!part.ok()) return part.error();
    // A run of failed cases judges other kernels on each device.
    is_judged_before =
        is_judged_before || (options.failed_run_folder.empty() && !part->builds.empty() &&
                             backends::runs_emitted_code(backends::device_descriptor(part->options.device)) &&
                             part->builds.front().device->can_run().is_available);
    if (run.device_runs_.empty()) whole = std::move(run_selection);
    else whole.inputs_hash = sha256_hex(whole.inputs_hash + run_selection.inputs_hash);
    if (!part->builds.empty()) run.device_runs_.push_back(part.take());
  }
  run.options_ = std::move(options);
  if (run.device_runs_.empty()) return run;
  const SuiteOptions& chosen = run.options_;
  std::vector<backends::Device*> devices;
  for (const DeviceRun& part : run.device_runs_) {
    devices.push_back(part.builds.front().device.get());
    if (part.cross_check_device != nullptr) devices.push_back(part.cross_check_device.get());
  }
  Result<RunStart> start = start_of(chosen, run.device_runs_.front().builds.front().named_build.options, devices, whole,
                                    std::move(expectations));
  if (!start.ok()) return start.error();
  run.start_ = start.take();
  for (const DeviceRun& part : run.device_runs_) {
    for (const KernelGroup& group : part.groups)
      std::ranges::move(plan_cases(group.sources, *group.device, group.options),
                        std::back_inserter(run.start_.planned_case_names));
  }
  Result<RecordWriter> writer = chosen.resumes_interrupted_run ? RecordWriter::resume(chosen.output, run.start_)
                                                               : RecordWriter::create(chosen.output, run.start_);
  if (!writer.ok()) return writer.error();
  run.writer_ = std::make_unique<RecordWriter>(writer.take());
  for (DeviceRun& part : run.device_runs_) {
    for (DeviceBuild& build : part.builds)
      build.verdict_cache = verdicts_for(part.options, *build.device, run.start_.environment);
    const auto examiner = std::make_shared<FailureExaminer>(part.options.max_failures_to_examine);
    for (KernelGroup& group : part.groups) {
      const auto build =
          std::ranges::find(part.builds, group.device, [](const DeviceBuild& one) { return one.device.get(); });
      group.options.examine_failure = [examiner, device_options = build->named_build.options](
                                          CaseRecord& record, const KernelSource& source,
                                          const RunOptions& judged_with) {
        examiner->examine(record, source, judged_with, device_options);
      };
      group.options.cross_check_device = part.cross_check_device.get();
      group.options.verdict_cache = build->verdict_cache.get();
    }
  }
  return run;
}

/// The kernels and the builds of one device of the run; without a build if no case failed in the run of --failed-in.
Result<SuiteRun::DeviceRun> SuiteRun::part_of(SuiteOptions options, RunSelection& run_selection, RunObserver& events) {
  DeviceRun part{.options = std::move(options)};
  const SuiteOptions& chosen = part.options;
  Result<std::vector<backends::NamedBuild>> builds =
      backends::resolve_builds(chosen.device, device_options(chosen), chosen.builds);
  if (!builds.ok()) return builds.error();
  std::vector<std::string> names;
  for (const backends::NamedBuild& build : *builds)
    names.push_back(build.name);
  const Result<std::vector<Mode>> modes =
      make_modes_for_builds(chosen.device, chosen.mode, chosen.optimization_levels, names);
  if (!modes.ok()) return modes.error();
  Result<RunSelection> selected = select_run(chosen, *modes, *builds);
  if (!selected.ok()) return selected.error();
  run_selection = selected.take();
  if (!chosen.failed_run_folder.empty() && run_selection.selection.kernels.empty()) return part;
  note_unsupported(run_selection.selection, events);
  part.groups = make_kernel_groups(run_selection, *modes, chosen, *builds);
  if (part.groups.empty())
    return Error{fmt::format("no test case matches the selectors with --pass {}{}", chosen.pass,
                             chosen.shard.empty() ? "" : " in this shard")};
  const bool uses_fastest_compiler = std::ranges::any_of(
      part.groups, [](const KernelGroup& group) { return group.options.mode.flags.uses_fastest_compiler; });
  for (backends::NamedBuild& build : *builds) {
    build.options.uses_fastest_compiler = uses_fastest_compiler;
    auto device = backends::make_device(chosen.device, build.options);
    if (!device.ok()) return device.error();
    part.builds.push_back({.named_build = build, .device = device.take()});
  }
  for (KernelGroup& group : part.groups)
    group.device = std::ranges::find(part.builds, group.options.mode.build, [](const DeviceBuild& one) {
                     return one.named_build.name;
                   })->device.get();
  auto cross_check_device = make_cross_check_device(chosen, events);
  if (!cross_check_device.ok()) return cross_check_device.error();
  part.cross_check_device = cross_check_device.take();
  return part;
}

std::vector<backends::Device*> SuiteRun::devices() {
  std::vector<backends::Device*> result;
  for (const DeviceRun& part : device_runs_)
    for (const DeviceBuild& build : part.builds)
      result.push_back(build.device.get());
  return result;
}

const SuiteRun::DeviceBuild& SuiteRun::build_of(const CaseRecord& record) const {
  const auto part = std::ranges::find(device_runs_, record.device,
                                      [](const DeviceRun& one) -> const std::string& { return one.options.device; });
  const auto build = std::ranges::find(part->builds, build_name_of_mode(record.mode),
                                       [](const DeviceBuild& one) -> std::string_view { return one.named_build.name; });
  return build == part->builds.end() ? part->builds.front() : *build;
}

backends::Device& SuiteRun::device_of(const CaseRecord& record) { return *build_of(record).device; }

backends::DeviceOptions SuiteRun::options_of(const CaseRecord& record) const {
  backends::DeviceOptions options = build_of(record).named_build.options;
  const Mode mode = for_family(mode_named(record.device, record.mode), record.family);
  if (mode.flags.uses_fastest_compiler) options.compiler = backends::fastest_compiler(options.compiler);
  return options;
}

Result<RunEnd> SuiteRun::judge(RunObserver& events) {
  std::unordered_map<std::string, double> costs;
  for (const DeviceRun& part : device_runs_)
    costs.merge(estimate_case_costs(part.groups, *part.builds.front().device));
  std::erase_if(costs, [&](const auto& one) { return !writer_->is_pending(one.first); });
  bool started = false;
  for (DeviceRun& part : device_runs_) {
    backends::Device& first = *part.builds.front().device;
    const auto measuring = MeasurementHook::make(part.options, first);
    if (!measuring.ok()) return measuring.error();
    (*measuring)->bind(part.groups);
    if (!std::exchange(started, true)) events.on_start(start_, writer_->pending(), std::move(costs));
    const auto judged = run_cases(part.groups, first, printer(), *writer_,
                                  [&](const CaseRecord& record) { events.on_record(record, part.groups); });
    if (!judged.ok()) return judged.error();
  }
  return writer_->finish();
}

}  // namespace assay::harness
