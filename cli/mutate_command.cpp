// assay certify: makes wrong kernels and counts how many of them the suite catches.
#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/same_code.hpp"
#include "backends/cuda/nvrtc/same_code.hpp"
#include "backends/ptx/needless_barrier.hpp"
#include "cli/attacks.hpp"
#include "cli/color_option.hpp"
#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/interrupt.hpp"
#include "cli/plants.hpp"
#include "cli/progress.hpp"
#include "harness/mutation/equivalence.hpp"
#include "harness/mutation/ledger.hpp"
#include "harness/mutation/mutation_testing.hpp"
#include "harness/mutation/score_json.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "harness/suite/select/select.hpp"
#include "reports/model/mutation_score.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

struct MutationOptions {
  std::vector<std::string> selectors{"*"};
  std::vector<std::string> operators;  ///< names; empty: all that the device can tell
  std::string device = "cpu";
  std::size_t mutants = 300;
  std::uint64_t seed = 1;
  int random = 0;
  int jobs = 0;
  bool quick = false;
  bool widen = false;
  bool resume = false;
  bool injected_faults = false;
  bool attacks = false;
  double at_least = 100;              ///< per cent of the mutants
  std::vector<std::string> controls;  ///< folders of runs over right random kernels
  std::string threads;                ///< folder of a campaign on a device with threads
  std::string compiler;
  std::string output = "out";
  std::string document;
  reports::ColorChoice color = reports::ColorChoice::automatic;
};

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const mutation::OperatorRow& row : mutation::kOperators)
    names.emplace_back(row.name);
  return names;
}

/// Threads run one after another on the CPU: what only real threads show is nothing that it could tell.
std::set<mutation::Operator> operators_of(const MutationOptions& options) {
  std::set<mutation::Operator> operators;
  for (const mutation::OperatorRow& row : mutation::kOperators) {
    const bool named = std::ranges::find(options.operators, row.name) != options.operators.end();
    const bool tells = row.counterexample != mutation::Counterexample::kThreads || options.device != "cpu";
    if (options.operators.empty() ? tells : named) operators.insert(row.op);
  }
  return operators;
}

Result<mutation::Campaign> campaign_of(const MutationOptions& options) {
  const Result<harness::Selection> selection = harness::select(
      options.selectors,
      {.device = options.device, .modes = {""}, .random_kernels = options.random, .first_random = options.seed});
  if (!selection.ok()) return selection.error();
  mutation::Campaign campaign{.kernels = {},
                              .operators = operators_of(options),
                              .mutants = options.mutants,
                              .seed = options.seed,
                              .policy = options.quick ? harness::Policy::quick() : harness::Policy::standard(),
                              .jobs = options.jobs,
                              .widen = options.widen,
                              .done = {}};
  for (const harness::Selected& kernel : selection->kernels) {
    if (!kernel.source.unreadable) campaign.kernels.push_back(kernel.source);
  }
  return campaign;
}

/// What runs over right random kernels came to. Curated kernels and user's files in them do not count.
Result<mutation::Controls> controls_of(const std::vector<std::string>& folders) {
  mutation::Controls controls;
  std::set<std::string> kernels;
  for (const std::string& folder : folders) {
    const Result<harness::RunRecords> run = harness::read_records(folder);
    if (!run.ok()) return run.error();
    for (const harness::CaseRecord& record : run->cases) {
      if (!harness::is_random_name(record.kernel) || record.outcome == harness::Outcome::unsupported) continue;
      ++controls.cases;
      kernels.insert(record.family + "/" + record.kernel);
      if (record.outcome == harness::Outcome::inconclusive) {
        ++controls.inconclusive;
      } else if (!harness::is_pass(record.outcome)) {
        ++controls.rejected;
        controls.alarms.push_back(record.name);
      }
    }
  }
  controls.kernels = static_cast<std::int64_t>(kernels.size());
  return controls;
}

std::string hash_of(const mutation::Campaign& campaign, const std::vector<mutation::Planned>& plan) {
  std::string names;
  for (const mutation::Planned& mutant : plan)
    names += mutation::name_of(campaign, mutant) + "\n";
  return fmt::format("{:016x}", fnv1a(names));
}

/// The ledger to write to, and what one that is gone on with already holds.
struct OpenLedger {
  harness::AppendedLines lines;
  std::vector<mutation::MutantRecord> mutants;
};
Result<OpenLedger> open_ledger(const MutationOptions& options, const mutation::LedgerHead& head) {
  if (options.resume) {
    Result<std::optional<mutation::Ledger>> old = mutation::read_ledger(options.output);
    if (!old.ok()) return old.error();
    if (*old && (*old)->head != head) {
      return Error{"was made by another campaign, device or build; leave out --resume to start anew",
                   (std::filesystem::path(options.output) / mutation::kLedgerFile).string()};
    }
    if (*old) {
      auto lines = harness::AppendedLines::reopen(std::filesystem::path(options.output) / mutation::kLedgerFile,
                                                  (*old)->whole_bytes);
      if (!lines.ok()) return lines.error();
      return OpenLedger{lines.take(), std::move((*old)->mutants)};
    }
  }
  Result<harness::AppendedLines> lines = mutation::start_ledger(options.output, head);
  if (!lines.ok()) return lines.error();
  return OpenLedger{lines.take(), {}};
}

Result<void> run_campaign(mutation::Campaign& campaign, const std::vector<mutation::Planned>& plan,
                          backends::Device& device, const MutationOptions& options, OpenLedger& ledger) {
  for (const mutation::MutantRecord& mutant : ledger.mutants)
    campaign.done.insert(mutant.name);
  std::size_t survived = 0;
  Progress progress(plan.size(), reports::use_color_on_stdout(options.color), {"mutants", "survived"});
  const InterruptGuard guard([&] {
    progress.stop();
    tell(fmt::format("interrupted: {} mutants are recorded in {}; go on with --resume", ledger.mutants.size(),
                     ledger.lines.file().string()));
  });
  const auto take = [&](const mutation::MutantRecord& mutant) -> Result<void> {
    InterruptGuard::check();
    if (const Result<void> put = ledger.lines.append(mutation::to_line(mutant)); !put.ok()) return put;
    ledger.mutants.push_back(mutant);
    survived += mutant.fate == mutation::Fate::kSurvived;
    progress.set(ledger.mutants.size(), survived);
    return {};
  };
  const auto same_code = [&](const backends::EmittedKernel& a, const backends::EmittedKernel& b) -> Result<bool> {
    if (device.target() == backends::SourceTarget::kCpp) return cpu::same_optimised_code(options.compiler, a, b);
    return cuda::same_compiled_code(a, b);
  };
  return mutation::run_mutants(campaign, plan, device, printer(), {same_code, ptx::barrier_1_is_needless}, take);
}

Result<std::vector<mutation::FaultResult>> injected_faults_of(const MutationOptions& options) {
  if (!options.injected_faults) return std::vector<mutation::FaultResult>{};
  std::size_t missed = 0;
  std::size_t done = 0;
  Progress progress(std::size(mutation::kComparatorFaults), reports::use_color_on_stdout(options.color),
                    {"planted faults", "not noticed"});
  return run_injected_faults(options.output, options.compiler, [&](const mutation::FaultResult& result) {
    missed += result.noticed ? 0 : 1;
    progress.set(++done, missed);
  });
}

/// The campaign whose mutants of operators that only threads show join this one's.
Result<mutation::Ledger> threads_of(const MutationOptions& options) {
  if (options.threads.empty()) return mutation::Ledger{};
  Result<std::optional<mutation::Ledger>> ledger = mutation::read_ledger(options.threads);
  if (!ledger.ok()) return ledger.error();
  if (!*ledger) return Error{"there is no campaign; make one with: assay certify --device ptx", options.threads};
  return **std::move(ledger);
}

int attack_suite(const MutationOptions& options) {
  if (options.device != "cpu") {
    return fail({fmt::format("found --device {}, expected cpu: attacks are C++", options.device)});
  }
  return run_attack_set({.seed = options.seed,
                         .quick = options.quick,
                         .compiler = options.compiler,
                         .document = options.document,
                         .color = options.color});
}

int test_suite_by_mutation(const MutationOptions& options) {
  Result<mutation::Campaign> campaign = campaign_of(options);
  if (!campaign.ok()) return fail(campaign.error());
  const Result<mutation::Controls> controls = controls_of(options.controls);
  if (!controls.ok()) return fail(controls.error());
  const Result<mutation::Ledger> threaded = threads_of(options);
  if (!threaded.ok()) return fail(threaded.error());
  const auto device = make_device(options.device, {.compiler = options.compiler});
  if (const backends::Capability can = device->can_run(); !can.available) {
    return fail({fmt::format("the device {} cannot run here: {}", options.device, can.detail)},
                ExitStatus::all_unsupported);
  }
  if (const auto stale = mutation::stale_proofs(*campaign, mutation::kProvedEqual, device->target(), printer());
      !stale.empty()) {
    return fail({fmt::format("a proof that a mutant of '{}' is right is about no mutant any more; see proved_equal.hpp",
                             stale.front())},
                ExitStatus::internal);
  }
  const std::vector<mutation::Planned> plan = mutation::plan_mutants(*campaign, *device, printer());
  const mutation::LedgerHead head{.device = options.device,
                                  .commit = std::string(kCommit.substr(0, 7)),
                                  .seed = options.seed,
                                  .planned = plan.size(),
                                  .plan = hash_of(*campaign, plan)};
  Result<OpenLedger> ledger = open_ledger(options, head);
  if (!ledger.ok()) return fail(ledger.error());
  if (const Result<void> run = run_campaign(*campaign, plan, *device, options, *ledger); !run.ok())
    return fail(run.error(), ExitStatus::internal);
  const Result<std::vector<mutation::FaultResult>> injected_faults = injected_faults_of(options);
  if (!injected_faults.ok()) return fail(injected_faults.error(), ExitStatus::internal);

  // By name, so that the score does not depend on which kernel was ready first.
  std::ranges::sort(ledger->mutants, {}, &mutation::MutantRecord::name);
  mutation::Score score;
  for (const mutation::MutantRecord& mutant : ledger->mutants)
    score.add(mutant);
  if (score.threaded.mutants > 0) score.threaded_device = options.device;
  for (const mutation::MutantRecord& mutant : threaded->mutants) {
    if (mutation::row(mutant.op).counterexample != mutation::Counterexample::kThreads) continue;
    score.add(mutant);
    score.threaded_device = threaded->head.device;
  }
  const std::filesystem::path file = std::filesystem::path(options.output) / reports::kMutationScoreFile;
  if (const auto put = put_file(file, mutation::to_json_text(score, head, *controls, *injected_faults)); !put.ok())
    return fail(put.error(), ExitStatus::internal);
  const Result<nlohmann::json> mutation_score = reports::read_mutation_score(options.output);
  if (!mutation_score.ok()) return fail(mutation_score.error(), ExitStatus::internal);
  if (!options.document.empty()) {
    const auto put = put_file(options.document, reports::mutation_document(*mutation_score));
    if (!put.ok()) return fail(put.error(), ExitStatus::internal);
  }
  const auto printed = print(reports::mutation_table(*mutation_score, reports::use_color_on_stdout(options.color)));
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  if (score.all.mutants + score.threaded.mutants == 0) return to_int(ExitStatus::nothing_ran);
  const bool strong = 100 * score.all.share() >= options.at_least && 100 * score.threaded.share() >= options.at_least;
  const bool all_noticed = std::ranges::all_of(*injected_faults, &mutation::FaultResult::noticed);
  return to_int(strong && all_noticed && controls->rejected == 0 ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_mutate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<MutationOptions>();
  CLI::App& command = *app.add_subcommand("certify", "Make wrong kernels and count how many the suite catches");
  command.add_option("SELECTOR", options->selectors, "Kernels to make mutants of: families, patterns, Python files")
      ->option_text("[*]");
  command.add_option("--operator", options->operators, "Only these mutation operators")
      ->option_text("NAME ...")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(operator_names()));
  add_device_option(command, options->device, "Where to judge the mutants");
  command.add_option("--mutants", options->mutants, "To make at most, spread evenly over the operators")
      ->option_text("N [300]")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--random", options->random, "Random kernels of each family beside the curated ones")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 10'000));
  command.add_option("--seed", options->seed, "Seed of the choice of mutants, and of the inputs")->option_text("S [1]");
  command.add_flag("--quick", options->quick, "Few inputs for each mutant");
  command.add_flag("--widen", options->widen, "Judge what native precision kills again, with wider bounds");
  command.add_option("--controls", options->controls, "Folders of runs over right random kernels, to be counted")
      ->option_text("DIR ...")
      ->allow_extra_args(false);
  command
      .add_option("--threads", options->threads, "Folder of a campaign on a device with threads, whose mutants join")
      ->option_text("DIR");
  command.add_flag("--plants", options->injected_faults,
                   "Plant faults in the oracle, the comparator and the verdict as well");
  command
      .add_flag("--attacks", options->attacks,
                "Judge code that cheats or does harm, in place of mutants; docs/attacks.md")
      ->excludes("--plants", "--operator", "--controls", "--widen");
  command.add_option("--jobs", options->jobs, "Kernels at a time; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--cxx", options->compiler, "The C++ compiler; default: $CXX, else c++")->option_text("COMMAND");
  command.add_option("--at-least", options->at_least, "The share of mutants to kill for the exit status 0")
      ->option_text("PERCENT [100]")
      ->check(CLI::Range(0.0, 100.0));
  command.add_flag("--resume", options->resume, "Go on with the campaign in the folder");
  command.add_option("--output", options->output, "The folder for mutants.jsonl and certification.json")
      ->option_text("DIR [out]");
  command.add_option("--write-doc", options->document, "Write the score as Markdown to this file")->option_text("FILE");
  add_color_option(command, options->color);
  command.footer("A survivor is a gap of the suite. Exit status: 0 strong enough and no false alarm, 1 not.");
  command.callback([options, &invocation] {
    invocation.status = options->attacks ? attack_suite(*options) : test_suite_by_mutation(*options);
  });
}

}  // namespace assay::cli
