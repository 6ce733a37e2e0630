#include "cli/run_suite.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/report_output.hpp"
#include "harness/reduce/failure_archive.hpp"
#include "harness/suite/select/selected_files.hpp"
#include "harness/suite/suite_run.hpp"
#include "reports/model/compilers.hpp"
#include "support/file_watch.hpp"
#include "support/shell.hpp"

namespace assay::cli {
namespace {

/// Shows a run on the terminal.
class TerminalObserver final : public harness::RunObserver {
 public:
  TerminalObserver(const RunRequest& request, reduce::FailureArchiver& archiver)
      : request_(request), archiver_(archiver) {}

  void on_note(std::string_view kind, std::string_view text) override {
    notes_[std::string(kind)].emplace_back(text);
    if (request_.prints_every_note) print_message(fmt::format("{}: {}", kind, text));
  }

  void on_start(const harness::RunStart& start, std::size_t pending,
                std::unordered_map<std::string, double> costs) override {
    print_notes();
    planned_ = pending;
    progress_ = std::make_unique<ProgressDisplay>(pending, use_color_on_stdout(request_.color));
    if (!start.expectations.empty()) progress_->expect(start);
    progress_->set_costs(std::move(costs));
    guard_.emplace([this] { report_interruption(); });
  }

  void on_record(const harness::CaseRecord& record, const std::vector<harness::KernelGroup>& groups) override {
    InterruptGuard::check();
    // A failure folder holds no launches: the case would be judged on other inputs.
    if (progress_->record(record) && request_.suite_options.launches_folder.empty())
      archiver_.add_failure(record, groups);
  }

  /// After the last case.
  void finish() {
    InterruptGuard::check();
    guard_.reset();
    progress_.reset();
  }

 private:
  /// One line for each kind of note, with the first of its texts.
  void print_notes() const {
    if (request_.prints_every_note) return;
    for (const auto& [kind, texts] : notes_) {
      print_message(texts.size() == 1
                        ? fmt::format("{}: {}", kind, texts.front())
                        : fmt::format("{} ({} notes, --verbose shows all): {}", kind, texts.size(), texts.front()));
    }
  }

  void report_interruption() {
    progress_->stop();
    const Result<reports::WrittenReports> reports = reports::write_reports(request_.suite_options.output);
    print_message(fmt::format("interrupted: {} of {} cases are recorded in {}; continue with --resume",
                              progress_->done(), planned_,
                              reports.ok() ? reports->html_path.string() : request_.suite_options.output));
  }

  const RunRequest& request_;
  reduce::FailureArchiver& archiver_;
  std::map<std::string, std::vector<std::string>> notes_;
  std::size_t planned_ = 0;
  std::unique_ptr<ProgressDisplay> progress_;
  std::optional<InterruptGuard> guard_;
};

}  // namespace

int run_suite(RunRequest request, std::vector<std::string>* imported_files) {
  std::vector<live::SourceFile> sources;
  if (request.import_options.is_import_requested) {
    Result<PythonImportResult> import = import_python_sources(request.suite_options.selectors, request.import_options);
    if (!import.ok()) return fail(import.error());
    request.suite_options.exported_kernels = std::move(import->kernels);
    request.suite_options.reproduce_import_options = " --import";
    if (!request.import_options.python_interpreter.empty())
      request.suite_options.reproduce_import_options +=
          " --python " + quote_for_shell(request.import_options.python_interpreter);
    sources = std::move(import->sources);
    if (imported_files != nullptr) {
      for (const live::SourceFile& source : sources)
        imported_files->push_back(source.path);
    }
  }
  // Read before the run, which may write to the same folders.
  const Result<reports::ReportOptions> report_options =
      read_report_options(request.baseline_path, request.mutation_score_folder);
  if (!report_options.ok()) return fail(report_options.error());
  reduce::FailureArchiver archiver(request.suite_options, request.reduction_time_limit_seconds);
  TerminalObserver events(request, archiver);
  Result<harness::SuiteRun> run = harness::SuiteRun::prepare(request.suite_options, events);
  if (!run.ok()) return fail(run.error());
  if (run->is_empty()) {
    print_message(fmt::format("nothing failed on the device {} in {}", request.suite_options.device,
                              request.suite_options.failed_run_folder));
    return to_int(ExitStatus::nothing_ran);
  }
  reports::remove_reports(request.suite_options.output);
  if (!request.suite_options.resumes_interrupted_run) reduce::remove_archived_failures(request.suite_options.output);
  const Result<harness::RunEnd> end = run->judge(events);
  events.finish();
  if (!end.ok()) return fail(end.error(), ExitStatus::internal);
  const Result<reports::WrittenReports> reports = reports::write_reports(request.suite_options.output, *report_options);
  if (!reports.ok()) return fail(reports.error(), ExitStatus::internal);
  if (const auto printed = print_closing(*reports, request.color); !printed.ok())
    return fail(printed.error(), ExitStatus::internal);
  if (const std::string table =
          reports::build_table(reports::build_matrix(reports->run), use_color_on_stdout(request.color));
      !table.empty()) {
    if (const auto printed = print("\n" + table); !printed.ok()) return fail(printed.error(), ExitStatus::internal);
  }
  const std::string archived = archiver.archive(
      [&run](const harness::CaseRecord& record) {
        return reduce::DeviceWithOptions{.device = run->device_of(record), .options = run->options_of(record)};
      },
      [](const std::string& line) { print_message(line); });
  if (const auto printed = print(archived); !printed.ok()) return fail(printed.error(), ExitStatus::internal);
  if (const auto changed = live::changed_source(sources))
    print_message(*changed + ": the file changed during the run; the results are about its earlier version");
  for (const backends::Device* const device : run->devices())
    if (const std::string remark = device->remark(); !remark.empty()) print_message(remark);
  return reports->summary.verdict.exit_status;
}

int run_on_save(RunRequest request) {
  constexpr std::chrono::milliseconds kQuietPeriod{100};
  std::vector<std::string> imported;
  while (true) {
    // The states before the run, so that a file that is saved during the run is judged again.
    FileWatch watch;
    for (const std::string& file : harness::selected_files(request.suite_options.selectors))
      watch.add(file);
    for (const std::string& file : imported)
      watch.add(file);
    if (watch.size() == 0) {
      const std::vector<std::string>& selectors = request.suite_options.selectors;
      return fail(
          {fmt::format("--watch requires a SELECTOR that names a file, got {}; expected FILE.py, FILE.py:KERNEL, "
                       "a folder or a file pattern",
                       selectors.empty() ? "none" : fmt::format("{}", fmt::join(selectors, " ")))});
    }
    std::vector<std::string> imported_now;
    run_suite(request, &imported_now);
    request.suite_options.resumes_interrupted_run = false;
    for (const std::string& file : imported_now)
      watch.add(file);
    if (!imported_now.empty()) imported = std::move(imported_now);
    print_message(fmt::format("watching {} file{}; save to judge again, Ctrl+C to end", watch.size(),
                              watch.size() == 1 ? "" : "s"));
    print_message(fmt::format("{} changed", fmt::join(watch.wait_for_change(kQuietPeriod), ", ")));
  }
}

}  // namespace assay::cli
