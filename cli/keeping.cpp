#include "cli/keeping.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/modes.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure_folder.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using harness::Outcome;
using Clock = std::chrono::steady_clock;

/// Of failures that end alike so many are kept, and of a run's altogether.
constexpr std::size_t kMostOfAKind = 3;
constexpr std::size_t kMostKept = 30;

/// An outcome for which the emitted code is to blame, or Assay; a kernel without inputs or a missing device is not.
bool is_kept(Outcome outcome) {
  return outcome == Outcome::fail || outcome == Outcome::build_failed || outcome == Outcome::launch_failed ||
         outcome == Outcome::crashed || outcome == Outcome::timed_out || outcome == Outcome::memory_fault ||
         outcome == Outcome::internal_error;
}

/// A compiler that is given by a relative path is to be found from everywhere.
std::string from_anywhere(const std::string& compiler) {
  std::error_code error;
  const bool is_path = compiler.find('/') != std::string::npos && fs::exists(compiler, error);
  return is_path ? fs::absolute(compiler, error).string() : compiler;
}

/// The mode of this name; strict if there is none.
harness::Mode mode_named(std::string_view device, std::string_view name) {
  for (int level = 0; level <= 3; ++level) {
    for (harness::Mode& mode : modes_of(device, "both", level))
      if (mode.name == name) return std::move(mode);
  }
  return {};
}

reduce::Reduced reduced_of(const reduce::ReducedCase& made, const reduce::Conditions& conditions) {
  const bool is_quick = made.options.policy.sets() == harness::Policy::quick().sets();
  return {.message = made.record.message,
          .effort = is_quick ? reduce::effort_of(true, false) : conditions.effort,
          .statements_before = made.reduction.before.statements,
          .statements = made.reduction.after.statements,
          .trials = made.reduction.trials,
          .seconds = std::chrono::duration<double>(made.reduction.time).count(),
          .finished = made.reduction.finished};
}

}  // namespace

reduce::Conditions conditions_of(const JudgeOptions& options, const harness::CaseRecord& record) {
  return {.device = record.device,
          .pass = record.pass,
          .mode = record.mode,
          .effort = reduce::effort_of(options.quick, options.thorough),
          .seed = options.seed,
          .compiler = from_anywhere(options.compiler),
          .no_checks = options.no_checks};
}

harness::RunOptions run_options(const reduce::Conditions& conditions, int jobs) {
  harness::RunOptions options;
  options.jobs = jobs;
  options.seed = conditions.seed;
  options.policy = conditions.policy();
  options.mode = mode_named(conditions.device, conditions.mode);
  return options;
}

std::unique_ptr<backends::Device> device_of(const reduce::Conditions& conditions) {
  return make_device(conditions.device, {.compiler = conditions.compiler, .no_checks = conditions.no_checks});
}

reduce::Failure failure_of(const harness::CaseRecord& record, const harness::KernelSource& source,
                           reduce::Conditions conditions) {
  return {.name = record.name,
          .kernel = source.module->kernels[source.kernel_index].name,
          .ending = reduce::ending_of(record),
          .message = record.message,
          .conditions = std::move(conditions),
          .reduced = std::nullopt};
}

Result<Kept> archive_failure(const harness::KernelSource& source, reduce::Failure failure, backends::Device& device,
                             const fs::path& folder, std::chrono::milliseconds time, int jobs,
                             const reduce::Report& report) {
  const backends::Pass pass = failure.conditions.which_pass();
  const harness::RunOptions options = run_options(failure.conditions, jobs);
  const reduce::Examined whole = reduce::examine(source, pass, device, printer(), options);
  if (const auto put = reduce::put_folder(folder, failure, whole.evidence, std::nullopt); !put.ok()) return put.error();
  if (time.count() <= 0) return Kept{.folder = folder, .failure = std::move(failure)};

  const reduce::FailingCase failing{.source = source, .pass = pass, .ending = failure.ending};
  const auto made = reduce::reduce_case(failing, device, printer(), options, {.time = time}, report);
  if (!made.ok()) {
    tell("not reduced: " + made.error().text());
    return Kept{.folder = folder, .failure = std::move(failure)};
  }
  failure.reduced = reduced_of(*made, failure.conditions);
  const reduce::Examined rest = reduce::examine(made->source, pass, device, printer(), made->options);
  if (const auto put = reduce::put_folder(folder, failure, whole.evidence, rest.evidence); !put.ok())
    return put.error();
  return Kept{.folder = folder, .failure = std::move(failure)};
}

fs::path failures_folder(const fs::path& output) { return output / "failures"; }

void forget_failures(const fs::path& output) {
  std::error_code error;
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(failures_folder(output), error))
    if (fs::exists(entry.path() / reduce::kFailureFile, error) || entry.path().extension() == reduce::kPartial)
      old.push_back(entry.path());
  for (const fs::path& folder : old)
    fs::remove_all(folder, error);
}

void FailureArchiver::note(const harness::CaseRecord& record, const std::vector<harness::Group>& groups) {
  if (!is_kept(record.outcome)) return;
  ++failures_;
  std::size_t& of_kind = of_kind_[record.pass + reduce::to_text(reduce::ending_of(record))];
  if (of_kind >= kMostOfAKind || noted_.size() >= kMostKept) return;
  for (const harness::Group& group : groups) {
    const auto source = std::ranges::find_if(group.sources, [&](const harness::KernelSource& one) {
      return one.family == record.family && one.kernel == record.kernel && one.module != nullptr;
    });
    if (source == group.sources.end()) continue;
    noted_.push_back({.record = record, .source = *source, .is_first = of_kind++ == 0});
    return;
  }
}

void FailureArchiver::keep(backends::Device& device) {
  if (noted_.empty()) return;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.reduce));
  std::string lines;
  std::size_t kept = 0;
  for (const Noted& one : noted_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const bool reduces = one.is_first && left.count() > 0;
    if (reduces)
      tell(fmt::format("reducing {}, {:.0f} s at most", one.record.name, static_cast<double>(left.count()) / 1e3));
    const fs::path folder = failures_folder(options_.output) / reduce::folder_name(one.record.name);
    const Result<Kept> made =
        archive_failure(one.source, failure_of(one.record, one.source, conditions_of(options_, one.record)), device,
                        folder, reduces ? left : std::chrono::milliseconds(0), options_.jobs);
    if (!made.ok()) {
      tell("not kept: " + made.error().text());
      continue;
    }
    lines += "  " + line_of(*made) + "\n";
    ++kept;
  }
  const auto printed =
      print(fmt::format("{} of {} failures kept, each with a command that reproduces it:\n{}", kept, failures_, lines));
  if (!printed.ok()) tell(printed.error().text());
}

std::string line_of(const Kept& kept) {
  std::string line = (kept.folder / "reproduce.sh").string();
  if (const auto& reduced = kept.failure.reduced) {
    line += fmt::format("  (reduced from {} {} to {})", reduced->statements_before,
                        reduced->statements_before == 1 ? "statement" : "statements", reduced->statements);
  }
  return line;
}

}  // namespace assay::cli
