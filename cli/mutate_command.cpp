// assay mutate: makes incorrect kernels and counts how many of them the suite detects.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/device.hpp"
#include "backends/worker/confinement.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "harness/attacks/attack_text.hpp"
#include "harness/mutation/campaign.hpp"
#include "harness/mutation/fault_injection.hpp"
#include "harness/suite/emission.hpp"
#include "reports/model/mutation_score.hpp"
#include "support/files.hpp"

namespace assay::cli {
namespace {

struct MutateOptions {
  mutation::CampaignOptions campaign;
  bool injects_faults = false;
  bool attacks = false;
  double at_least = 100;  ///< per cent of the mutants
  std::string document;   ///< the Markdown file to write; empty: none
  ColorChoice color = ColorChoice::automatic;
};

/// Writes the document, if one is wanted.
Result<void> put_document(const MutateOptions& options, const std::string& text) {
  return options.document.empty() ? Result<void>{} : put_file(options.document, text);
}

// ---- attacks

int run_attack_set(const MutateOptions& options) {
  const std::string& compiler = options.campaign.compiler;
  cpu::CpuDevice device({.compiler = compiler});
  if (options.campaign.device != device.name())
    return fail({fmt::format("--attacks requires --device {}, got {}: attacks are written in C++", device.name(),
                             options.campaign.device)});
  if (const backends::Capability can = device.can_run(); !can.is_available)
    return fail_unsupported(device.name(), can.tool_or_reason);
  const Result<worker::Confinement> confinement = device.probe_confinement();
  if (!confinement.ok()) return fail(confinement.error(), ExitStatus::internal);
  const std::vector<attacks::Attack> set = attacks::attack_set();
  const bool color = use_color_on_stdout(options.color);
  std::size_t done = 0;
  std::size_t missed = 0;
  ProgressDisplay progress(set.size(), color, {"attacks", "not caught"});
  const auto make_device = [&](const std::filesystem::path& folder) -> std::unique_ptr<backends::Device> {
    return std::make_unique<cpu::CpuDevice>(
        cpu::CpuOptions{.compiler = compiler, .cache_directory = folder, .uses_build_cache = false});
  };
  Result<attacks::AttackReport> report =
      attacks::run_attacks(set, make_device, harness::printer(),
                           {.policy = options.campaign.uses_few_inputs ? harness::JudgingPolicy::quick()
                                                                       : harness::JudgingPolicy::standard(),
                            .seed = options.campaign.seed,
                            .filters_system_calls = confinement->system_call_filter_error == 0,
                            .restricts_file_access = confinement->file_restriction_error == 0,
                            .on_result = [&](const attacks::AttackResult& result) {
                              missed += !result.is_skipped && !result.is_caught();
                              progress.set(++done, missed);
                            }});
  progress.stop();
  if (!report.ok()) return fail(report.error(), ExitStatus::internal);
  const std::string confined = worker::describe(*confinement);
  if (const auto put = put_document(options, attack_document(*report, confined)); !put.ok())
    return fail(put.error(), ExitStatus::internal);
  const int printed = print_or_fail(attack_table(*report, confined, color));
  if (printed != 0) return printed;
  return to_int(report->all_caught() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

// ---- mutants

Result<void> judge_mutants(mutation::PreparedCampaign& prepared, backends::Device& device,
                           const MutateOptions& options) {
  std::size_t survived = 0;
  ProgressDisplay progress(prepared.plan.size(), use_color_on_stdout(options.color), {"mutants", "survived"});
  const InterruptGuard guard([&] {
    progress.stop();
    print_message(fmt::format("interrupted: {} mutants are recorded in {}; continue with --resume",
                              prepared.mutants.size(), prepared.ledger.file().string()));
  });
  return run_campaign(prepared, device, options.campaign.compiler, [&](const mutation::MutantRecord& mutant) {
    InterruptGuard::check();
    survived += mutant.status == mutation::MutantStatus::kSurvived;
    progress.set(prepared.mutants.size(), survived);
  });
}

Result<std::vector<mutation::FaultResult>> inject_faults(const MutateOptions& options) {
  if (!options.injects_faults) return std::vector<mutation::FaultResult>{};
  std::size_t missed = 0;
  std::size_t done = 0;
  ProgressDisplay progress(std::size(mutation::kFaultInjectionEnabled), use_color_on_stdout(options.color),
                           {"injected faults", "not noticed"});
  return mutation::run_injected_faults(options.campaign.output_folder, options.campaign.compiler,
                                       [&](const mutation::FaultResult& result) {
                                         missed += result.is_detected ? 0 : 1;
                                         progress.set(++done, missed);
                                       });
}

int run_mutation_testing(const MutateOptions& options) {
  const mutation::CampaignOptions& campaign = options.campaign;
  const auto device =
      backends::make_device(campaign.device, {.compiler = campaign.compiler, .uses_fastest_compiler = true});
  if (!device.ok()) return fail(device.error());
  if (const backends::Capability can = (*device)->can_run(); !can.is_available)
    return fail_unsupported(campaign.device, can.tool_or_reason);
  Result<mutation::PreparedCampaign> prepared = prepare_campaign(campaign, **device);
  if (!prepared.ok()) return fail(prepared.error());
  if (const auto stale = find_stale_proofs(*prepared, **device); !stale.empty()) {
    return fail(
        {fmt::format(
            "the proof of equivalence for '{}' no longer matches a mutant; update harness/mutation/equivalence.hpp",
            stale.front())},
        ExitStatus::internal);
  }
  if (const Result<void> run = judge_mutants(*prepared, **device, options); !run.ok())
    return fail(run.error(), ExitStatus::internal);
  const Result<std::vector<mutation::FaultResult>> faults = inject_faults(options);
  if (!faults.ok()) return fail(faults.error(), ExitStatus::internal);

  const mutation::MutationScore score = score_of(*prepared, campaign.device);
  const std::filesystem::path file = std::filesystem::path(campaign.output_folder) / reports::kMutationScoreFileName;
  if (const auto put = put_file(file, to_json_text(score, prepared->header, prepared->false_positive_corpus, *faults));
      !put.ok())
    return fail(put.error(), ExitStatus::internal);
  const Result<nlohmann::json> shown = reports::read_mutation_score(campaign.output_folder);
  if (!shown.ok()) return fail(shown.error(), ExitStatus::internal);
  if (const auto put = put_document(options, reports::mutation_document(*shown)); !put.ok())
    return fail(put.error(), ExitStatus::internal);
  const int printed = print_or_fail(reports::mutation_table(*shown, use_color_on_stdout(options.color)));
  if (printed != 0) return printed;
  if (score.single_thread_mutants.mutants + score.threaded_mutants.mutants == 0) return to_int(ExitStatus::nothing_ran);
  const bool strong = 100 * score.single_thread_mutants.share() >= options.at_least &&
                      100 * score.threaded_mutants.share() >= options.at_least;
  const bool all_noticed = std::ranges::all_of(*faults, &mutation::FaultResult::is_detected);
  const bool passes = strong && all_noticed && prepared->false_positive_corpus.rejected_case_count == 0;
  return to_int(passes ? ExitStatus::as_expected : ExitStatus::unexpected);
}

void add_choice_options(CLI::App& command, MutateOptions& options) {
  mutation::CampaignOptions& campaign = options.campaign;
  command.add_option("SELECTOR", campaign.selectors, "Kernels to mutate: families, patterns or Python files")
      ->option_text("[*]");
  command.add_option("--operator", campaign.operators, "Apply only these mutation operators")
      ->option_text("NAME ...")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(mutation::operator_names()));
  add_any_device_option(command, campaign.device, "Device that judges the mutants");
  command.add_option("--mutants", campaign.max_mutants, "Judge at most N mutants, spread evenly over the operators")
      ->option_text("N [300]")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--random", campaign.random_kernels_per_family, "Also mutate N random kernels of each family")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 10'000));
  add_seed_option(command, campaign.seed, "Seed of the inputs and of the choice of mutants");
}

}  // namespace

void add_mutate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<MutateOptions>();
  mutation::CampaignOptions& campaign = options->campaign;
  CLI::App& command = *app.add_subcommand("mutate", "Make incorrect kernels and count how many the suite detects");
  add_choice_options(command, *options);
  command.add_flag("--quick", campaign.uses_few_inputs, "Judge each mutant on few inputs");
  command.add_flag("--widen", campaign.judges_widened_bounds,
                   "Judge again, with wider bounds, the mutants that were killed in native precision");
  command
      .add_option("--correct", campaign.false_positive_run_folders,
                  "Folders of runs on correct random kernels, which form the false-positive corpus")
      ->option_text("DIR ...")
      ->allow_extra_args(false);
  command
      .add_option("--threads", campaign.threaded_campaign_folder,
                  "Include in the score an earlier 'assay mutate' on a device with concurrent threads, given by its "
                  "output folder")
      ->option_text("DIR");
  command.add_flag("--inject-faults", options->injects_faults,
                   "Also inject faults into the oracle, the comparator and the verdict");
  command
      .add_flag("--attacks", options->attacks,
                "Judge kernels with hostile code instead of mutants; see docs/generated/attacks.md")
      ->excludes("--inject-faults", "--operator", "--correct", "--widen");
  add_jobs_option(command, campaign.jobs, "Number of kernels processed at once");
  add_compiler_option(command, campaign.compiler);
  command.add_option("--at-least", options->at_least, "Percentage of mutants that must be killed for exit status 0")
      ->option_text("PERCENT [100]")
      ->check(CLI::Range(0.0, 100.0));
  command.add_flag("--resume", campaign.resumes_campaign, "Continue the campaign in the output folder");
  command.add_option("--output", campaign.output_folder, "Output folder for mutants.jsonl and certification.json")
      ->option_text("DIR [out]");
  command.add_option("--write-doc", options->document, "Write the score as Markdown to this file")->option_text("FILE");
  add_color_option(command, options->color);
  command.footer(
      "A surviving mutant reveals a gap in the suite.\n"
      "Exit status: 0 if enough mutants were killed and no correct kernel failed, otherwise 1.");
  command.callback([options, &invocation] {
    invocation.status = options->attacks ? run_attack_set(*options) : run_mutation_testing(*options);
  });
}

}  // namespace assay::cli
