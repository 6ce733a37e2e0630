#include "cli/judging.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "backends/device/build_cache.hpp"
#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/environment.hpp"
#include "cli/interrupt.hpp"
#include "cli/keeping.hpp"
#include "cli/measuring.hpp"
#include "cli/modes.hpp"
#include "cli/plan.hpp"
#include "cli/progress.hpp"
#include "cli/report_output.hpp"
#include "cli/unit_tables.hpp"
#include "harness/records/expectation_file.hpp"
#include "harness/records/record_writer.hpp"
#include "harness/suite/run/run.hpp"
#include "harness/suite/run/verdict_cache.hpp"

namespace assay::cli {
namespace {

/// Whether what a GPU computes is held against the named device: against the CPU unless told otherwise, and where
/// strict flags fix the bits against the device ptx.
bool is_held_against(std::string_view device, const JudgeOptions& options) {
  if (options.device != "cuda") return false;
  if (options.cross_check.empty()) return device == "cpu" || options.mode != "default";
  return options.cross_check == device || options.cross_check == "both";
}

DeviceOptions device_options(const JudgeOptions& options, std::shared_ptr<const ptx::Tables> tables = nullptr) {
  return {.compiler = options.compiler,
          .no_checks = options.no_checks,
          .gpu = options.gpu,
          .device_bytes = options.device_bytes,
          .cross_check = is_held_against("ptx", options) ? "ptx" : "",
          .tables = std::move(tables),
          .cache = options.cache};
}

std::size_t unreadable_kernels(const std::vector<Group>& groups) {
  std::size_t count = 0;
  for (const Group& group : groups)
    count += static_cast<std::size_t>(std::ranges::count_if(
        group.sources, [](const harness::KernelSource& source) { return source.unreadable.has_value(); }));
  return count;
}

harness::RunStart start_of(const JudgeOptions& options, const std::vector<Group>& groups,
                           const backends::Device& device, const Choice& choice,
                           std::vector<harness::Expectation> expectations) {
  harness::RunStart start{.run_id = harness::make_run_id(),
                          .started = harness::utc_now(),
                          .command_line = options.command_line,
                          .seed = options.seed,
                          .environment = look_at_environment(device_options(options)),
                          .inputs = choice.inputs,
                          .shard = choice.shard,
                          .expectations = std::move(expectations)};
  for (const Group& group : groups)
    std::ranges::move(harness::plan_cases(group.sources, device, group.options), std::back_inserter(start.plan));
  return start;
}

/// Tells of the kernels that could not be read, each in a line, before anything takes time.
void tell_unread(const harness::Selection& selection) {
  for (const std::string& note : selection.notes)
    tell(note);
  for (const harness::Selected& kernel : selection.kernels) {
    if (kernel.source.unreadable) tell("not read: " + kernel.source.unreadable->text());
  }
}

/// Where earlier runs' verdicts are; null where each has to be found anew: a GPU's results differ in the order of
/// atomic additions, and with other tables or fewer checks the PTX device is another one.
std::unique_ptr<harness::VerdictCache> verdicts_for(const JudgeOptions& options, const backends::Device& device,
                                                    const harness::Environment& environment) {
  const bool same_each_time = options.device != "cuda" && options.no_checks.empty() && options.tables.empty();
  if (options.fresh || options.repeat > 1 || options.measure || !same_each_time) return nullptr;
  const std::filesystem::path chosen = options.cache;
  auto cache =
      harness::VerdictCache::open(chosen.empty() ? backends::default_cache_directory() : chosen, device, environment);
  return cache.ok() ? cache.take() : nullptr;
}

/// What is said and left behind when the run is interrupted.
void say_farewell(Progress& progress, std::size_t planned, const std::string& output) {
  progress.stop();
  const Result<reports::Reports> reports = reports::write_reports(output);
  tell(fmt::format("interrupted: {} of {} cases are recorded in {}; the run is not complete", progress.done(), planned,
                   reports.ok() ? reports->html.string() : output));
}

Result<harness::RunEnd> judge_groups(const std::vector<Group>& groups, backends::Device& device,
                                     const harness::RunStart& start, const JudgeOptions& options,
                                     harness::RecordWriter& writer, FailureArchiver& keeper) {
  const std::size_t planned = writer.pending();
  Progress progress(planned, reports::use_color_on_stdout(options.color));
  if (!start.expectations.empty()) progress.expect(start);
  std::unordered_map<std::string, double> costs = harness::expected_costs(groups, device);
  std::erase_if(costs, [&](const auto& one) { return !writer.is_pending(one.first); });
  progress.weigh(std::move(costs));
  const InterruptGuard guard([&] { say_farewell(progress, planned, options.output); });
  const auto on_record = [&](const harness::CaseRecord& record) {
    InterruptGuard::check();
    if (progress.record(record)) keeper.note(record, groups);
  };
  const auto judged = harness::run_cases(groups, device, printer(), writer, on_record);
  if (!judged.ok()) return judged.error();
  InterruptGuard::check();
  return writer.finish();
}

/// A kernel that cannot be read is no pass, whatever became of the others.
int status_of(const reports::Verdict& verdict, std::size_t unread) {
  const bool fine = verdict.status == "as_expected" || verdict.status == "all_unsupported";
  return unread > 0 && fine ? to_int(ExitStatus::unexpected) : verdict.exit_status;
}

Result<std::vector<harness::Expectation>> expectations_of(const JudgeOptions& options) {
  if (options.expect.empty()) return std::vector<harness::Expectation>{};
  return harness::read_expectations(options.expect);
}

}  // namespace

int judge_kernels(const JudgeOptions& options) {
  // Read before the run, which may write into their folders.
  const Result<reports::ReportOptions> how = read_report_options(options.baseline, options.mutation_score);
  if (!how.ok()) return fail(how.error());
  Result<std::vector<harness::Expectation>> expectations = expectations_of(options);
  if (!expectations.ok()) return fail(expectations.error());
  const std::vector<harness::Mode> modes = modes_of(options.device, options.mode, options.optimise);
  const Result<Choice> choice = choose(options, modes);
  if (!choice.ok()) return fail(choice.error());
  if (!options.failed_in.empty() && choice->selection.kernels.empty()) {
    tell(fmt::format("nothing failed on the device {} in {}", options.device, options.failed_in));
    return to_int(ExitStatus::nothing_ran);
  }
  tell_unread(choice->selection);
  std::vector<Group> groups = groups_of(*choice, modes, options);
  if (groups.empty())
    return fail({fmt::format("the selectors and --pass {} leave no case{}", options.pass,
                             options.shard.empty() ? "" : " for this shard")});

  auto tables = load_tables(options.tables);
  if (!tables.ok()) return fail(tables.error());
  const auto device = make_device(options.device, device_options(options, tables.take()));
  const auto peer = is_held_against("cpu", options) ? make_device("cpu", device_options(options)) : nullptr;
  if (peer != nullptr && !peer->can_run().available) tell("not held against the CPU: " + peer->can_run().detail);
  for (Group& group : groups)
    group.options.peer = peer.get();
  const auto measuring = Measuring::make(options, *device);
  if (!measuring.ok()) return fail(measuring.error(), ExitStatus::internal);
  (*measuring)->bind(groups);
  const harness::RunStart start = start_of(options, groups, *device, *choice, expectations.take());
  Result<harness::RecordWriter> writer = options.resume ? harness::RecordWriter::resume(options.output, start)
                                                        : harness::RecordWriter::create(options.output, start);
  if (!writer.ok()) return fail(writer.error());
  if (!options.resume) forget_failures(options.output);

  const auto verdicts = verdicts_for(options, *device, start.environment);
  for (Group& group : groups)
    group.options.verdicts = verdicts.get();

  FailureArchiver keeper(options);
  const Result<harness::RunEnd> end = judge_groups(groups, *device, start, options, *writer, keeper);
  if (!end.ok()) return fail(end.error(), ExitStatus::internal);
  const Result<reports::Reports> reports = reports::write_reports(options.output, *how);
  if (!reports.ok()) return fail(reports.error(), ExitStatus::internal);
  if (const auto printed = print_closing(*reports, options.color); !printed.ok()) {
    return fail(printed.error(), ExitStatus::internal);
  }
  keeper.keep(*device);
  if (const std::string remark = remark_of(*device); !remark.empty()) tell(remark);
  const std::size_t unread = unreadable_kernels(groups);
  if (unread > 0)
    tell(fmt::format("{} could not be read", unread == 1 ? "1 kernel" : fmt::format("{} kernels", unread)));
  return status_of(reports->summary.verdict, unread);
}

}  // namespace assay::cli
