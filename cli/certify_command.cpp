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
#include "cli/version.hpp"
#include "harness/certify/certify.hpp"
#include "harness/certify/ledger.hpp"
#include "harness/certify/proved_equal.hpp"
#include "harness/certify/score_json.hpp"
#include "harness/dataset/files.hpp"
#include "harness/record/record_reader.hpp"
#include "harness/select/random_kernels.hpp"
#include "harness/select/select.hpp"
#include "ir/support/hash.hpp"
#include "reports/certification.hpp"

namespace assay::cli {
namespace {

struct CertifyOptions {
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
  bool plants = false;
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
  for (const certify::OperatorRow& row : certify::kOperators)
    names.emplace_back(row.name);
  return names;
}

/// Threads run one after another on the CPU: what only real threads show is nothing that it could tell.
std::set<certify::Operator> operators_of(const CertifyOptions& options) {
  std::set<certify::Operator> operators;
  for (const certify::OperatorRow& row : certify::kOperators) {
    const bool named = std::ranges::find(options.operators, row.name) != options.operators.end();
    const bool tells = row.witness != certify::Witness::kThreads || options.device != "cpu";
    if (options.operators.empty() ? tells : named) operators.insert(row.op);
  }
  return operators;
}

Result<certify::Campaign> campaign_of(const CertifyOptions& options) {
  const Result<harness::Selection> selection = harness::select(
      options.selectors,
      {.device = options.device, .modes = {""}, .random_kernels = options.random, .first_random = options.seed});
  if (!selection.ok()) return selection.error();
  certify::Campaign campaign{.kernels = {},
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
Result<certify::Controls> controls_of(const std::vector<std::string>& folders) {
  certify::Controls controls;
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

std::string hash_of(const certify::Campaign& campaign, const std::vector<certify::Planned>& plan) {
  std::string names;
  for (const certify::Planned& mutant : plan)
    names += certify::name_of(campaign, mutant) + "\n";
  return fmt::format("{:016x}", fnv1a(names));
}

/// The ledger to write to, and what one that is gone on with already holds.
struct OpenLedger {
  harness::AppendedLines lines;
  std::vector<certify::MutantRecord> mutants;
};
Result<OpenLedger> open_ledger(const CertifyOptions& options, const certify::LedgerHead& head) {
  if (options.resume) {
    Result<std::optional<certify::Ledger>> old = certify::read_ledger(options.output);
    if (!old.ok()) return old.error();
    if (*old && (*old)->head != head) {
      return Error{"was made by another campaign, device or build; leave out --resume to start anew",
                   (std::filesystem::path(options.output) / certify::kLedgerFile).string()};
    }
    if (*old) {
      auto lines = harness::AppendedLines::reopen(std::filesystem::path(options.output) / certify::kLedgerFile,
                                                  (*old)->whole_bytes);
      if (!lines.ok()) return lines.error();
      return OpenLedger{lines.take(), std::move((*old)->mutants)};
    }
  }
  Result<harness::AppendedLines> lines = certify::start_ledger(options.output, head);
  if (!lines.ok()) return lines.error();
  return OpenLedger{lines.take(), {}};
}

Result<void> run_campaign(certify::Campaign& campaign, const std::vector<certify::Planned>& plan,
                          backends::Device& device, const CertifyOptions& options, OpenLedger& ledger) {
  for (const certify::MutantRecord& mutant : ledger.mutants)
    campaign.done.insert(mutant.name);
  std::size_t survived = 0;
  Progress progress(plan.size(), reports::use_color_on_stdout(options.color), {"mutants", "survived"});
  const InterruptGuard guard([&] {
    progress.stop();
    tell(fmt::format("interrupted: {} mutants are recorded in {}; go on with --resume", ledger.mutants.size(),
                     ledger.lines.file().string()));
  });
  const auto take = [&](const certify::MutantRecord& mutant) -> Result<void> {
    InterruptGuard::check();
    if (const Result<void> put = ledger.lines.append(certify::to_line(mutant)); !put.ok()) return put;
    ledger.mutants.push_back(mutant);
    survived += mutant.fate == certify::Fate::kSurvived;
    progress.set(ledger.mutants.size(), survived);
    return {};
  };
  const auto same_code = [&](const backends::EmittedKernel& a, const backends::EmittedKernel& b) -> Result<bool> {
    if (device.target() == backends::SourceTarget::kCpp) return cpu::same_optimised_code(options.compiler, a, b);
    return cuda::same_compiled_code(a, b);
  };
  return certify::run_mutants(campaign, plan, device, printer(), {same_code, ptx::barrier_1_is_needless}, take);
}

Result<std::vector<certify::PlantResult>> plants_of(const CertifyOptions& options) {
  if (!options.plants) return std::vector<certify::PlantResult>{};
  std::size_t missed = 0;
  std::size_t done = 0;
  Progress progress(std::size(certify::kPlantedFaults), reports::use_color_on_stdout(options.color),
                    {"planted faults", "not noticed"});
  return run_plants(options.output, options.compiler, [&](const certify::PlantResult& result) {
    missed += result.noticed ? 0 : 1;
    progress.set(++done, missed);
  });
}

/// The campaign whose mutants of operators that only threads show join this one's.
Result<certify::Ledger> threads_of(const CertifyOptions& options) {
  if (options.threads.empty()) return certify::Ledger{};
  Result<std::optional<certify::Ledger>> ledger = certify::read_ledger(options.threads);
  if (!ledger.ok()) return ledger.error();
  if (!*ledger) return Error{"there is no campaign; make one with: assay certify --device ptx", options.threads};
  return **std::move(ledger);
}

int attack_suite(const CertifyOptions& options) {
  if (options.device != "cpu") {
    return fail({fmt::format("found --device {}, expected cpu: attacks are C++", options.device)});
  }
  return run_attack_set({.seed = options.seed,
                         .quick = options.quick,
                         .compiler = options.compiler,
                         .document = options.document,
                         .color = options.color});
}

int certify_suite(const CertifyOptions& options) {
  Result<certify::Campaign> campaign = campaign_of(options);
  if (!campaign.ok()) return fail(campaign.error());
  const Result<certify::Controls> controls = controls_of(options.controls);
  if (!controls.ok()) return fail(controls.error());
  const Result<certify::Ledger> threaded = threads_of(options);
  if (!threaded.ok()) return fail(threaded.error());
  const auto device = make_device(options.device, {.compiler = options.compiler});
  if (const backends::Capability can = device->can_run(); !can.available) {
    return fail({fmt::format("the device {} cannot run here: {}", options.device, can.detail)},
                ExitStatus::all_unsupported);
  }
  if (const auto stale = certify::stale_proofs(*campaign, certify::kProvedEqual, device->target(), printer());
      !stale.empty()) {
    return fail({fmt::format("a proof that a mutant of '{}' is right is about no mutant any more; see proved_equal.hpp",
                             stale.front())},
                ExitStatus::internal);
  }
  const std::vector<certify::Planned> plan = certify::plan_mutants(*campaign, *device, printer());
  const certify::LedgerHead head{.device = options.device,
                                 .commit = std::string(kCommit.substr(0, 7)),
                                 .seed = options.seed,
                                 .planned = plan.size(),
                                 .plan = hash_of(*campaign, plan)};
  Result<OpenLedger> ledger = open_ledger(options, head);
  if (!ledger.ok()) return fail(ledger.error());
  if (const Result<void> run = run_campaign(*campaign, plan, *device, options, *ledger); !run.ok())
    return fail(run.error(), ExitStatus::internal);
  const Result<std::vector<certify::PlantResult>> plants = plants_of(options);
  if (!plants.ok()) return fail(plants.error(), ExitStatus::internal);

  // By name, so that the score does not depend on which kernel was ready first.
  std::ranges::sort(ledger->mutants, {}, &certify::MutantRecord::name);
  certify::Score score;
  for (const certify::MutantRecord& mutant : ledger->mutants)
    score.add(mutant);
  if (score.threaded.mutants > 0) score.threaded_device = options.device;
  for (const certify::MutantRecord& mutant : threaded->mutants) {
    if (certify::row(mutant.op).witness != certify::Witness::kThreads) continue;
    score.add(mutant);
    score.threaded_device = threaded->head.device;
  }
  const std::filesystem::path file = std::filesystem::path(options.output) / reports::kCertificationFile;
  if (const auto put = dataset::put_file(file, certify::to_json_text(score, head, *controls, *plants)); !put.ok())
    return fail(put.error(), ExitStatus::internal);
  const Result<nlohmann::json> certification = reports::read_certification(options.output);
  if (!certification.ok()) return fail(certification.error(), ExitStatus::internal);
  if (!options.document.empty()) {
    const auto put = dataset::put_file(options.document, reports::certification_document(*certification));
    if (!put.ok()) return fail(put.error(), ExitStatus::internal);
  }
  const auto printed = print(reports::certification_table(*certification, reports::use_color_on_stdout(options.color)));
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  if (score.all.mutants + score.threaded.mutants == 0) return to_int(ExitStatus::nothing_ran);
  const bool strong = 100 * score.all.share() >= options.at_least && 100 * score.threaded.share() >= options.at_least;
  const bool all_noticed = std::ranges::all_of(*plants, &certify::PlantResult::noticed);
  return to_int(strong && all_noticed && controls->rejected == 0 ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_certify(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CertifyOptions>();
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
  command.add_flag("--plants", options->plants, "Plant faults in the oracle, the comparator and the verdict as well");
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
    invocation.status = options->attacks ? attack_suite(*options) : certify_suite(*options);
  });
}

}  // namespace assay::cli
