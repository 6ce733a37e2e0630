// assay reduce: makes a failing kernel as small as it can be while it fails in the same way.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/keeping.hpp"
#include "cli/modes.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure_folder.hpp"
#include "harness/suite/select/python_file.hpp"
#include "harness/suite/select/select.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct ReduceOptions {
  std::string target;
  JudgeOptions judge;
  double time_limit = 60;
};

/// What is to be reduced, and where that is kept.
struct Target {
  harness::KernelSource source;
  reduce::Failure failure;
  fs::path folder;
};

std::string elapsed(std::chrono::steady_clock::time_point start) {
  return fmt::format("{:6.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Result<Target> target_of_folder(const fs::path& folder) {
  Result<reduce::Failure> failure = reduce::read_failure(folder);
  if (!failure.ok()) return failure.error();
  Result<harness::PythonKernels> read = harness::read_file({.path = folder / "kernel.py", .kernel = failure->kernel});
  if (!read.ok()) return read.error();
  if (read->kernels.front().unreadable) return *read->kernels.front().unreadable;
  return Target{.source = std::move(read->kernels.front()), .failure = failure.take(), .folder = folder};
}

/// The device that a case's name says; else that of the options.
std::string device_in(const ReduceOptions& options) {
  for (const std::string_view device : kDeviceNames)
    if (options.target.find(fmt::format("/{}/", device)) != std::string::npos) return std::string(device);
  return options.judge.device;
}

/// The kernel that the selector names, and those of its cases.
Result<harness::Selected> selected(const ReduceOptions& options, const std::vector<harness::Mode>& modes) {
  Result<harness::Selection> selection = harness::select(
      {options.target}, {.device = options.judge.device, .modes = names_of(modes), .random_kernels = 0});
  if (!selection.ok()) return selection.error();
  if (selection->kernels.size() > 1) {
    return Error{
        fmt::format("names {} kernels, expected one: FILE.py:KERNEL or FAMILY/KERNEL", selection->kernels.size()),
        options.target};
  }
  if (const auto& unreadable = selection->kernels.front().source.unreadable) return *unreadable;
  return std::move(selection->kernels.front());
}

/// Judges the kernel's cases until one is neither passed nor beyond this machine; nothing if none is.
Result<std::optional<Target>> target_of_selector(ReduceOptions options) {
  options.judge.device = device_in(options);
  const std::vector<harness::Mode> modes =
      modes_of(options.judge.device, options.judge.mode.empty() ? "both" : options.judge.mode, options.judge.optimise);
  const Result<harness::Selected> kernel = selected(options, modes);
  if (!kernel.ok()) return kernel.error();
  const auto device = make_device(options.judge.device, {.compiler = options.judge.compiler, .no_checks = {}});
  if (const backends::Capability can = device->can_run(); !can.available)
    return Error{can.detail, "the device " + options.judge.device};
  for (const std::string& mode : kernel->modes) {
    for (const backends::Pass pass : {backends::Pass::kForward, backends::Pass::kBackward}) {
      if (!(pass == backends::Pass::kForward ? kernel->forward : kernel->backward)) continue;
      harness::CaseRecord record;
      record.device = options.judge.device;
      record.pass = backends::to_text(pass);
      record.mode = mode;
      const reduce::Conditions conditions = conditions_of(options.judge, record);
      record =
          reduce::judge_case(kernel->source, pass, *device, printer(), run_options(conditions, options.judge.jobs));
      if (record.name.empty() || harness::is_pass(record.outcome)) continue;
      return std::optional(Target{.source = kernel->source,
                                  .failure = failure_of(record, kernel->source, conditions),
                                  .folder = failures_folder(options.judge.output) / reduce::folder_name(record.name)});
    }
  }
  return std::optional<Target>();
}

Result<std::optional<Target>> find_target(const ReduceOptions& options) {
  std::error_code error;
  if (!fs::is_directory(options.target, error)) return target_of_selector(options);
  return target_of_folder(options.target).map([](Target target) { return std::optional(std::move(target)); });
}

int reduce_target(const ReduceOptions& options) {
  const Result<std::optional<Target>> found = find_target(options);
  if (!found.ok()) return fail(found.error());
  if (!*found) {
    tell(fmt::format("nothing to reduce: every case of {} passes", options.target));
    return to_int(ExitStatus::unexpected);
  }
  const Target& target = **found;
  tell(fmt::format("{} ended as {}: {}", target.failure.name, reduce::to_text(target.failure.ending),
                   target.failure.message));
  const auto device = device_of(target.failure.conditions);
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](const reduce::Stand& stand) {
    tell(fmt::format("{}  {:5} trials  {:4} statements  {:5} parts of expressions  {}", elapsed(start), stand.trials,
                     stand.size.statements, stand.size.expressions, stand.step));
  };
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.time_limit));
  const Result<Kept> kept =
      archive_failure(target.source, target.failure, *device, target.folder, time, options.judge.jobs, report);
  if (!kept.ok()) return fail(kept.error(), ExitStatus::internal);
  if (!kept->failure.reduced) return to_int(ExitStatus::unexpected);
  const reduce::Reduced& reduced = *kept->failure.reduced;
  if (!reduced.finished) tell("the time ran out: more of it may make the kernel smaller");
  const reduce::Evidence evidence = reduce::read_evidence(kept->folder, "reduced");
  const Result<void> printed =
      print(fmt::format("{}\n# {}\n# {}\n", evidence.at(".py"), reduced.message, line_of(*kept)));
  return printed.ok() ? 0 : fail(printed.error(), ExitStatus::internal);
}

}  // namespace

void add_reduce(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ReduceOptions>();
  CLI::App& command =
      *app.add_subcommand("reduce", "Make a failing kernel as small as it can be while it fails in the same way");
  command.add_option("TARGET", options->target, "A case or kernel by its name, FILE.py:KERNEL, or a failure's folder")
      ->option_text(" ")
      ->required();
  JudgeOptions& judge = options->judge;
  add_device_option(command, judge.device, "Where it fails, unless the case's name or the folder says so");
  command.add_option("--time-limit", options->time_limit, "Seconds of the clock to spend")
      ->option_text("S [60]")
      ->check(CLI::Range(0.001, 86'400.0));
  command.add_option("--output", judge.output, "Keep it in DIR/failures/CASE; a folder is kept where it is")
      ->option_text("DIR [out]");
  command.add_option("--mode", judge.mode, "Compiler flags under which it fails: strict, default or, to look, both")
      ->option_text("{strict,default,both} [both]")
      ->check(CLI::IsMember(std::vector<std::string>(kModeNames.begin(), kModeNames.end())));
  command.add_option("--optimise", judge.optimise, "Compile for the CPU with -O1, -O2 or -O3")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 3));
  command.add_option("--seed", judge.seed, "Seed of the inputs")->option_text("S [1]");
  CLI::Option* const quick = command.add_flag("--quick", judge.quick, "Look for the failure with few inputs");
  command.add_flag("--thorough", judge.thorough, "Look for it with many")->excludes(quick);
  command.add_option("--jobs", judge.jobs, "Candidates to build and judge at once; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--cxx", judge.compiler, "The C++ compiler of the device cpu; default: $CXX, else c++")
      ->option_text("COMMAND");
  command.footer(
      "Prints the reduced kernel. Exit status: 0 reduced, 1 nothing fails or not in the same way again, "
      "2 usage.");
  command.callback([options, &invocation] { invocation.status = reduce_target(*options); });
}

}  // namespace assay::cli
