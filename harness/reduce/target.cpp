#include "harness/reduce/target.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/device/registry.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure_archive.hpp"
#include "harness/reduce/failure_folder.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/select.hpp"

namespace assay::reduce {
namespace {

namespace fs = std::filesystem;

Result<ReproductionTarget> target_of_folder(const fs::path& folder) {
  Result<Failure> failure = read_failure(folder);
  if (!failure.ok()) return failure.error();
  Result<harness::KernelSet> read = harness::read_file({.path = folder / "kernel.py", .kernel = failure->kernel});
  if (!read.ok()) return read.error();
  if (read->kernels.front().parse_error) return *read->kernels.front().parse_error;
  return ReproductionTarget{.source = std::move(read->kernels.front()), .failure = failure.take(), .folder = folder};
}

/// The device in a case's name; else that of the options.
std::string device_in(const std::string& name, const harness::SuiteOptions& options) {
  for (const backends::DeviceDescriptor& row : backends::devices())
    if (name.find(fmt::format("/{}/", row.name)) != std::string::npos) return std::string(row.name);
  return options.device;
}

/// The kernel that the selector names, and its cases.
Result<harness::SelectedKernel> select_one(const std::string& selector, const harness::SuiteOptions& options,
                                           const std::vector<harness::Mode>& modes) {
  Result<harness::Selection> selection = harness::select(
      {selector}, {.device = options.device, .modes = harness::names_of(modes), .random_kernels_per_family = 0});
  if (!selection.ok()) return selection.error();
  if (selection->kernels.size() > 1) {
    return Error{fmt::format("selector must match one kernel, got {}; use FILE.py:KERNEL or FAMILY/KERNEL",
                             selection->kernels.size()),
                 selector};
  }
  if (const auto& error = selection->kernels.front().source.parse_error) return *error;
  return std::move(selection->kernels.front());
}

/// Judges the kernel's cases until one fails; nothing if none does.
Result<std::optional<ReproductionTarget>> target_of_selector(const std::string& selector,
                                                             harness::SuiteOptions options) {
  options.device = device_in(selector, options);
  const auto modes = harness::make_modes_for_builds(options.device, options.mode.empty() ? "both" : options.mode,
                                                    options.optimization_levels, {""});
  if (!modes.ok()) return modes.error();
  const Result<harness::SelectedKernel> kernel = select_one(selector, options, *modes);
  if (!kernel.ok()) return kernel.error();
  const auto device = backends::make_device(options.device, {.compiler = options.device_options.compiler});
  if (!device.ok()) return device.error();
  if (const backends::Capability can = (*device)->can_run(); !can.is_available)
    return Error{can.tool_or_reason, "the device " + options.device};
  for (const std::string& mode : kernel->modes) {
    for (const backends::Pass pass : {backends::Pass::kForward, backends::Pass::kBackward}) {
      if (!(pass == backends::Pass::kForward ? kernel->forward : kernel->backward)) continue;
      harness::CaseRecord record;
      record.device = options.device;
      record.pass = backends::to_text(pass);
      record.mode = mode;
      const JudgingConditions conditions = make_judging_conditions(options, options.device_options, record);
      record = judge_case(kernel->source, pass, **device, harness::printer(), run_options(conditions, options.jobs));
      if (record.name.empty() || harness::is_pass(record.outcome)) continue;
      return std::optional(ReproductionTarget{.source = kernel->source,
                                              .failure = make_failure(record, kernel->source, conditions),
                                              .folder = failures_folder(options.output) / folder_name(record.name)});
    }
  }
  return std::optional<ReproductionTarget>();
}

}  // namespace

Result<std::optional<ReproductionTarget>> find_target(const std::string& name, harness::SuiteOptions options) {
  std::error_code error;
  if (!fs::is_directory(name, error)) return target_of_selector(name, std::move(options));
  return target_of_folder(name).map([](ReproductionTarget target) { return std::optional(std::move(target)); });
}

Result<Reproduction> reproduce(const fs::path& folder, bool original) {
  Result<Failure> read = read_failure(folder);
  if (!read.ok()) return read.error();
  Failure failure = read.take();
  const bool reduced = failure.reduction_summary && !original;
  if (reduced) failure.conditions.judging_effort = failure.reduction_summary->judging_effort;
  const fs::path file = folder / (reduced ? "reduced.py" : "kernel.py");
  const Result<harness::KernelSet> kernels = harness::read_file({.path = file, .kernel = failure.kernel});
  if (!kernels.ok()) return kernels.error();
  const auto device = device_of(failure.conditions);
  if (!device.ok()) return device.error();
  Reproduction found{.record = {}, .kernel_file_path = file, .archived_failure_class = failure.failure_class};
  if (const backends::Capability can = (*device)->can_run(); !can.is_available) {
    found.unsupported_reason = can.tool_or_reason;
    return found;
  }
  found.record = judge_case(kernels->kernels.front(), failure.conditions.parsed_pass(), **device, harness::printer(),
                            run_options(failure.conditions, 1));
  found.is_reproduced = has_ending(found.record, failure.failure_class);
  return found;
}

}  // namespace assay::reduce
