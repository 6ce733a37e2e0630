#include "cli/judging.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/environment.hpp"
#include "cli/failed_before.hpp"
#include "cli/interrupt.hpp"
#include "cli/keeping.hpp"
#include "cli/modes.hpp"
#include "cli/progress.hpp"
#include "cli/report_output.hpp"
#include "cli/shard.hpp"
#include "cli/unit_tables.hpp"
#include "harness/record/expectation_file.hpp"
#include "harness/record/record_writer.hpp"
#include "harness/run/run.hpp"
#include "harness/select/select.hpp"
#include "ir/support/hash.hpp"

namespace assay::cli {
namespace {

/// Kernels of which the same passes are judged.
struct Group {
  harness::RunOptions options;
  std::vector<harness::KernelSource> sources;
};

harness::Policy policy_of(const JudgeOptions& options) {
  if (options.quick) return harness::Policy::quick();
  return options.thorough ? harness::Policy::thorough() : harness::Policy::standard();
}

/// What the command that reproduces a case begins with: everything that its selector, device, pass and seed leave out.
std::string reproduce_prefix(const JudgeOptions& options, const harness::Mode& mode) {
  std::string prefix = "assay run";
  if (options.quick) prefix += " --quick";
  if (options.thorough) prefix += " --thorough";
  if (options.optimise != 0) prefix += fmt::format(" --optimise {}", options.optimise);
  if (!options.compiler.empty()) prefix += fmt::format(" --cxx '{}'", options.compiler);
  for (const std::string& check : options.no_checks)
    prefix += " --no-check " + check;
  if (!options.tables.empty()) prefix += fmt::format(" --ptx-tables '{}'", options.tables);
  if (!options.mirror.empty()) prefix += " --mirror " + options.mirror;
  return prefix + mode_option(options.device, mode);
}

harness::RunOptions run_options(const JudgeOptions& options, const harness::Mode& mode) {
  return {.jobs = options.jobs,
          .seed = options.seed,
          .policy = policy_of(options),
          .repeat = options.repeat,
          .mode = mode,
          .reproduce_prefix = reproduce_prefix(options, mode),
          .keep_sources = true};
}

DeviceOptions device_options(const JudgeOptions& options, std::shared_ptr<const ptx::Tables> tables = nullptr) {
  return {.compiler = options.compiler,
          .no_checks = options.no_checks,
          .gpu = options.gpu,
          .device_bytes = options.device_bytes,
          .mirror = options.mirror,
          .tables = std::move(tables)};
}

/// The selection by mode and passes: most runs have one group for each mode.
std::vector<Group> groups_of(const harness::Selection& selection, const std::vector<harness::Mode>& modes,
                             const JudgeOptions& options) {
  std::vector<Group> groups;
  for (const harness::Mode& mode : modes) {
    const std::size_t first = groups.size();
    for (const harness::Selected& kernel : selection.kernels) {
      const bool forward = kernel.forward && options.pass != "backward";
      const bool backward = kernel.backward && options.pass != "forward";
      const bool chosen = std::ranges::find(kernel.modes, mode.name) != kernel.modes.end();
      if (!chosen || (!forward && !backward)) continue;
      auto group = std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(), [&](const Group& g) {
        return g.options.forward == forward && g.options.backward == backward;
      });
      if (group == groups.end()) {
        group = groups.insert(group, Group{.options = run_options(options, mode), .sources = {}});
        group->options.forward = forward;
        group->options.backward = backward;
      }
      group->sources.push_back(kernel.source);
    }
  }
  return groups;
}

/// Of this many kernels one is also judged as the optimiser leaves it; with --thorough all are.
constexpr std::uint64_t kOptimisedOneIn = 16;
constexpr int kSampledLevel = 2;

bool is_sampled(const harness::KernelSource& source, const JudgeOptions& options) {
  if (source.unreadable) return false;
  return options.thorough || fnv1a(source.family + "/" + source.kernel) % kOptimisedOneIn == 0;
}

/// Adds the sample that is judged at -O2, a mode of its own, to a run of the CPU that names no level.
void add_optimised_sample(std::vector<Group>& groups, JudgeOptions options) {
  if (options.device != "cpu" || options.optimise != 0 || options.quick) return;
  options.optimise = kSampledLevel;
  const harness::Mode mode = modes_of(options.device, "strict", kSampledLevel).front();
  std::vector<Group> sample;
  for (const Group& group : groups) {
    if (group.options.mode.flags.contract) continue;
    Group optimised{.options = run_options(options, mode), .sources = {}};
    optimised.options.forward = group.options.forward;
    optimised.options.backward = group.options.backward;
    std::ranges::copy_if(group.sources, std::back_inserter(optimised.sources),
                         [&](const harness::KernelSource& source) { return is_sampled(source, options); });
    if (!optimised.sources.empty()) sample.push_back(std::move(optimised));
  }
  std::ranges::move(sample, std::back_inserter(groups));
}

std::size_t unreadable_kernels(const std::vector<Group>& groups) {
  std::size_t count = 0;
  for (const Group& group : groups)
    count += static_cast<std::size_t>(std::ranges::count_if(
        group.sources, [](const harness::KernelSource& source) { return source.unreadable.has_value(); }));
  return count;
}

/// What is to be judged.
struct Choice {
  harness::Selection selection;
  harness::Shard shard;
  std::string inputs;  ///< for RunStart, of the whole selection
};

/// Hash of all that decides the records of a selection.
std::string inputs_of(const harness::Selection& selection, const std::vector<harness::Mode>& modes,
                      const JudgeOptions& options) {
  std::string text = fmt::format("{}\n{}\n{}\n", options.pass, options.seed, options.repeat);
  for (const harness::Mode& mode : modes)
    text += reproduce_prefix(options, mode) + "\n";
  for (const harness::Selected& kernel : selection.kernels)
    text += fmt::format("{} {} {} {}\n{}\n", kernel.source.selector, kernel.forward, kernel.backward,
                        fmt::join(kernel.modes, " "), kernel.source.python);
  return sha256_hex(text);
}

Result<Choice> choose(const JudgeOptions& options, const std::vector<harness::Mode>& modes) {
  Choice choice;
  std::vector<std::string> selectors = options.selectors;
  std::vector<harness::CaseRecord> failed;
  if (!options.failed_in.empty()) {
    auto before = failed_before(options.failed_in, options.device);
    if (!before.ok()) return before.error();
    failed = before.take();
    selectors = selectors_of(failed);
    if (selectors.empty()) return choice;
  }
  Result<harness::Selection> selection = harness::select(selectors, {.device = options.device,
                                                                     .modes = names_of(modes),
                                                                     .random_kernels = options.random,
                                                                     .first_random = options.seed});
  if (!selection.ok()) return selection.error();
  choice.selection = selection.take();
  if (!options.failed_in.empty()) keep_failed(choice.selection, failed);
  choice.inputs = inputs_of(choice.selection, modes, options);
  if (!options.shard.empty()) {
    const Result<harness::Shard> shard = parse_shard(options.shard);
    if (!shard.ok()) return shard.error();
    choice.shard = *shard;
    keep_shard(choice.selection, choice.shard);
  }
  return choice;
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

/// What is said and left behind when the run is interrupted.
void say_farewell(Progress& progress, std::size_t planned, const std::string& output) {
  progress.stop();
  const Result<reports::Reports> reports = reports::write_reports(output);
  tell(fmt::format("interrupted: {} of {} cases are recorded in {}; the run is not complete", progress.done(), planned,
                   reports.ok() ? reports->html.string() : output));
}

Result<harness::RunEnd> judge_groups(const std::vector<Group>& groups, backends::Device& device,
                                     const harness::RunStart& start, const JudgeOptions& options,
                                     harness::RecordWriter& writer, FailureKeeper& keeper) {
  const std::size_t planned = writer.pending();
  Progress progress(planned, reports::use_color_on_stdout(options.color));
  if (!start.expectations.empty()) progress.expect(start);
  const InterruptGuard guard([&] { say_farewell(progress, planned, options.output); });
  for (const Group& group : groups) {
    const auto on_record = [&](const harness::CaseRecord& record) {
      InterruptGuard::check();
      if (progress.record(record)) keeper.note(record, group.sources);
    };
    const auto judged = harness::run_cases(group.sources, device, printer(), group.options, writer, on_record);
    if (!judged.ok()) return judged.error();
  }
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
  const Result<reports::ReportOptions> how = read_report_options(options.baseline, options.certification);
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
  std::vector<Group> groups = groups_of(choice->selection, modes, options);
  add_optimised_sample(groups, options);
  if (groups.empty())
    return fail({fmt::format("the selectors and --pass {} leave no case{}", options.pass,
                             options.shard.empty() ? "" : " for this shard")});

  auto tables = load_tables(options.tables);
  if (!tables.ok()) return fail(tables.error());
  const auto device = make_device(options.device, device_options(options, tables.take()));
  const harness::RunStart start = start_of(options, groups, *device, *choice, expectations.take());
  Result<harness::RecordWriter> writer = options.resume ? harness::RecordWriter::resume(options.output, start)
                                                        : harness::RecordWriter::create(options.output, start);
  if (!writer.ok()) return fail(writer.error());
  if (!options.resume) forget_failures(options.output);

  FailureKeeper keeper(options);
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
