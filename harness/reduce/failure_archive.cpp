#include "harness/reduce/failure_archive.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "backends/device/registry.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure_folder.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/modes.hpp"

namespace assay::reduce {
namespace {

namespace fs = std::filesystem;
using harness::Outcome;
using Clock = std::chrono::steady_clock;

/// From this number of failures on, archiving them takes long enough to be announced.
constexpr std::size_t kAnnounced = 4;
/// Limits on archived failures with the same ending, and on archived failures of a run.
constexpr std::size_t kMostOfAKind = 3;
constexpr std::size_t kMostArchived = 30;

/// Whether the outcome is a failure of the emitted code or of Assay, not a missing device or a kernel without inputs.
bool is_archived(Outcome outcome) {
  return outcome == Outcome::fail || outcome == Outcome::build_failed || outcome == Outcome::launch_failed ||
         outcome == Outcome::crashed || outcome == Outcome::timed_out || outcome == Outcome::memory_fault ||
         outcome == Outcome::internal_error;
}

/// Makes a relative path of a compiler absolute.
std::string from_anywhere(const std::string& compiler) {
  std::error_code error;
  const bool is_path = compiler.find('/') != std::string::npos && fs::exists(compiler, error);
  return is_path ? fs::absolute(compiler, error).string() : compiler;
}

ReductionSummary reduced_of(const ReducedCase& made, const JudgingConditions& conditions) {
  const bool is_quick = made.options.policy.input_sets() == harness::JudgingPolicy::quick().input_sets();
  return {.message = made.record.message,
          .judging_effort = is_quick ? effort_of(true, false) : conditions.judging_effort,
          .statements_before = made.reduction.original_size.statements,
          .statements_after = made.reduction.reduced_size.statements,
          .candidate_count = made.reduction.candidate_count,
          .seconds = std::chrono::duration<double>(made.reduction.elapsed_time).count(),
          .is_minimal = made.reduction.is_minimal};
}

}  // namespace

JudgingConditions make_judging_conditions(const harness::SuiteOptions& options,
                                          const backends::DeviceOptions& device_options,
                                          const harness::CaseRecord& record) {
  return {.device = record.device,
          .pass = record.pass,
          .mode = record.mode,
          .judging_effort = effort_of(options.quick, options.thorough),
          .seed = options.seed,
          .compiler = from_anywhere(device_options.compiler),
          .disabled_checks = device_options.disabled_checks,
          .nvrtc_version_or_path = from_anywhere(device_options.nvrtc_version_or_path),
          .architectures = device_options.architectures};
}

harness::RunOptions run_options(const JudgingConditions& conditions, int jobs) {
  harness::RunOptions options;
  options.jobs = jobs;
  options.seed = conditions.seed;
  options.policy = conditions.policy();
  options.mode = harness::mode_named(conditions.device, conditions.mode);
  // The compiler is stated unless it is the default one.
  options.mode.flags.uses_fastest_compiler = options.mode.flags.uses_fastest_compiler && !conditions.compiler.empty();
  return options;
}

Result<std::unique_ptr<backends::Device>> device_of(const JudgingConditions& conditions) {
  return backends::make_device(conditions.device, {.compiler = conditions.compiler,
                                                   .disabled_checks = conditions.disabled_checks,
                                                   .nvrtc_version_or_path = conditions.nvrtc_version_or_path,
                                                   .architectures = conditions.architectures});
}

Failure make_failure(const harness::CaseRecord& record, const harness::KernelSource& source,
                     JudgingConditions conditions) {
  return {.name = record.name,
          .kernel = source.module->kernels[source.kernel_index].name,
          .failure_class = ending_of(record),
          .message = record.message,
          .conditions = std::move(conditions),
          .reduction_summary = std::nullopt};
}

Result<ArchivedFailure> archive_failure(const harness::KernelSource& source, Failure failure, backends::Device& device,
                                        const fs::path& folder, std::chrono::milliseconds time, int jobs,
                                        const ProgressCallback& on_progress,
                                        const std::function<void(const std::string&)>& on_message) {
  const backends::Pass pass = failure.conditions.parsed_pass();
  const harness::RunOptions options = run_options(failure.conditions, jobs);
  const JudgedFailure whole = judge_with_evidence(source, pass, device, harness::printer(), options);
  if (const auto put = write_failure_folder(folder, failure, whole.evidence, std::nullopt); !put.ok())
    return put.error();
  const auto archived = [&] {
    return ArchivedFailure{.folder = folder, .failure = std::move(failure), .failing_arrays = whole.failing_arrays};
  };
  if (time.count() <= 0) return archived();

  const FailingCase failing{.source = source, .pass = pass, .failure_class = failure.failure_class};
  const auto made = reduce_case(failing, device, harness::printer(), options, {.time_limit = time}, on_progress);
  if (!made.ok()) {
    if (on_message) on_message("not reduced: " + made.error().text());
    return archived();
  }
  failure.reduction_summary = reduced_of(*made, failure.conditions);
  const JudgedFailure rest = judge_with_evidence(made->source, pass, device, harness::printer(), made->options);
  if (const auto put = write_failure_folder(folder, failure, whole.evidence, rest.evidence); !put.ok())
    return put.error();
  return archived();
}

fs::path failures_folder(const fs::path& output) { return output / "failures"; }

void remove_archived_failures(const fs::path& output) {
  std::error_code error;
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(failures_folder(output), error))
    if (fs::exists(entry.path() / kFailureFileName, error) || entry.path().extension() == kPartialFolderSuffix)
      old.push_back(entry.path());
  for (const fs::path& folder : old)
    fs::remove_all(folder, error);
}

void FailureArchiver::add_failure(const harness::CaseRecord& record, const std::vector<harness::KernelGroup>& groups) {
  if (!is_archived(record.outcome)) return;
  ++failure_count_;
  std::size_t& of_kind = failure_count_by_kind_[record.pass + to_text(ending_of(record))];
  if (of_kind >= kMostOfAKind || observed_failures_.size() >= kMostArchived) return;
  for (const harness::KernelGroup& group : groups) {
    const auto source = std::ranges::find_if(group.sources, [&](const harness::KernelSource& one) {
      return one.family == record.family && one.kernel == record.kernel && one.module != nullptr;
    });
    if (source == group.sources.end()) continue;
    observed_failures_.push_back({.record = record, .source = *source, .is_first_of_kind = of_kind++ == 0});
    return;
  }
}

std::string FailureArchiver::archive(const std::function<DeviceWithOptions(const harness::CaseRecord&)>& device_of,
                                     const std::function<void(const std::string&)>& on_message) {
  if (observed_failures_.empty()) return "";
  if (observed_failures_.size() >= kAnnounced)
    on_message(
        fmt::format("judging {} of {} failures again, to archive them", observed_failures_.size(), failure_count_));
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(reduction_seconds_));
  std::string lines;
  std::size_t archived = 0;
  for (const ObservedFailure& one : observed_failures_) {
    const DeviceWithOptions failing = device_of(one.record);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const bool reduces = one.is_first_of_kind && left.count() > 0;
    if (reduces)
      on_message(fmt::format("reducing the failure of {} for at most {:.0f} s", one.record.name,
                             static_cast<double>(left.count()) / 1e3));
    const fs::path folder = failures_folder(options_.output) / folder_name(one.record.name);
    const Result<ArchivedFailure> made = archive_failure(
        one.source,
        make_failure(one.record, one.source, make_judging_conditions(options_, failing.options, one.record)),
        failing.device, folder, reduces ? left : std::chrono::milliseconds(0), options_.jobs, nullptr, on_message);
    if (!made.ok()) {
      on_message("cannot archive: " + made.error().text());
      continue;
    }
    lines += "  " + line_of(*made) + "\n";
    ++archived;
  }
  return fmt::format("{} of {} failures archived, each with a command that reproduces it:\n{}", archived,
                     failure_count_, lines);
}

std::string line_of(const ArchivedFailure& archived) {
  std::string line = (archived.folder / "reproduce.sh").string();
  if (const auto& reduced = archived.failure.reduction_summary) {
    line += fmt::format("  (reduced from {} {} to {})", reduced->statements_before,
                        reduced->statements_before == 1 ? "statement" : "statements", reduced->statements_after);
  }
  if (!archived.failing_arrays.empty()) line += fmt::format("  (fails with {})", archived.failing_arrays);
  return line;
}

}  // namespace assay::reduce
