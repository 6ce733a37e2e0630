#include "harness/mutation/campaign.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/compiler.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/ptx/artifacts.hpp"
#include "backends/warp/generated_text.hpp"
#include "backends/warp/replaced_code.hpp"
#include "harness/mutation/equivalence.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "harness/suite/select/select.hpp"
#include "support/hash.hpp"
#include "support/version/version.hpp"

namespace assay::mutation {
namespace {

/// Operators whose mutants the device can detect. A device that runs threads sequentially cannot detect a fault that
/// needs concurrent threads.
std::set<MutationOperator> operators_of(const CampaignOptions& options, backends::SourceTarget target) {
  std::set<MutationOperator> operators;
  for (const MutationOperatorEntry& row : kOperators) {
    const bool named = std::ranges::find(options.operators, row.name) != options.operators.end();
    const bool detects =
        target == backends::SourceTarget::kWarpPython
            ? applies_to_warp_code(row.op)
            : row.detectable_by != DetectableBy::kConcurrentThreads || target != backends::SourceTarget::kCpp;
    if (options.operators.empty() ? detects : named) operators.insert(row.op);
  }
  return operators;
}

Result<MutationCampaign> campaign_of(const CampaignOptions& options, backends::SourceTarget target) {
  const Result<harness::Selection> selection =
      harness::select(options.selectors, {.device = options.device,
                                          .modes = {""},
                                          .random_kernels_per_family = options.random_kernels_per_family,
                                          .first_random_seed = options.seed});
  if (!selection.ok()) return selection.error();
  MutationCampaign campaign{
      .kernels = {},
      .operators = operators_of(options, target),
      .max_mutants = options.max_mutants,
      .seed = options.seed,
      .policy = options.uses_few_inputs ? harness::JudgingPolicy::quick() : harness::JudgingPolicy::standard(),
      .jobs = options.jobs,
      .judges_widened_bounds = options.judges_widened_bounds,
      .completed_mutants = {}};
  for (const harness::SelectedKernel& kernel : selection->kernels) {
    if (!kernel.source.parse_error) campaign.kernels.push_back(kernel.source);
  }
  return campaign;
}

WarpCode code_of(const warp::GeneratedSources& text, bool is_cuda) {
  return is_cuda ? WarpCode{.source = text.cuda_source, .forward = text.cuda_forward, .backward = text.cuda_backward}
                 : WarpCode{.source = text.cpu_source, .forward = text.cpu_forward, .backward = text.cpu_backward};
}

/// Asks Warp for the text of each kernel in both precisions.
Result<std::vector<std::optional<WarpCodes>>> warp_codes_of(const std::vector<harness::KernelSource>& kernels,
                                                            bool is_cuda) {
  const Result<warp::WarpInterpreter>& interpreter = warp::known_interpreter();
  if (!interpreter.ok()) return interpreter.error();
  std::vector<warp::GeneratedCodeRequest> requests;
  std::vector<bool> is_printed;
  for (const harness::KernelSource& kernel : kernels) {
    const ir::Module& module = *kernel.module;
    const auto emitted =
        harness::printer()(module, module.kernels[kernel.kernel_index], nullptr, backends::SourceTarget::kWarpPython);
    is_printed.push_back(emitted.ok());
    if (!emitted.ok()) continue;
    for (const backends::PythonSource* python : {&emitted->python->native, &emitted->python->promoted})
      requests.push_back({.python_source = python->text,
                          .kernel_name = python->kernel_name,
                          .threads_per_tile_block = emitted->python->threads_per_tile_block});
  }
  const auto texts = warp::generate_sources(*interpreter, requests);
  if (!texts.ok()) return texts.error();
  std::vector<std::optional<WarpCodes>> codes;
  std::size_t next = 0;
  for (const bool printed : is_printed) {
    codes.emplace_back();
    if (!printed) continue;
    const Result<warp::GeneratedSources>& native = (*texts)[next++];
    const Result<warp::GeneratedSources>& promoted = (*texts)[next++];
    if (!native.ok()) continue;
    codes.back() = {.native = code_of(*native, is_cuda),
                    .promoted = promoted.ok() ? code_of(*promoted, is_cuda) : WarpCode{}};
  }
  return codes;
}

/// Whether Warp's compiler generates the same code for two kernels: objects of the CPU, or PTX.
Result<bool> same_code_of_warp(backends::Device& device, const backends::EmittedKernel& a,
                               const backends::EmittedKernel& b) {
  std::vector<std::vector<std::string>> codes;
  for (const backends::BuildOutcome& outcome : device.build(std::vector{a, b}, backends::BuildFlags::strict())) {
    const auto* built = std::get_if<backends::BuiltKernel>(&outcome);
    if (built == nullptr) return Error{"Warp failed to build a kernel that it built before"};
    codes.push_back(warp::comparable_code(*built));
  }
  return codes[0] == codes[1];
}

/// The results of runs over correct random kernels. Curated kernels and user files in these runs are not counted.
Result<FalsePositiveCorpus> controls_of(const std::vector<std::string>& folders) {
  FalsePositiveCorpus controls;
  std::set<std::string> kernels;
  for (const std::string& folder : folders) {
    const Result<harness::RunRecords> run = harness::read_records(folder);
    if (!run.ok()) return run.error();
    for (const harness::CaseRecord& record : run->cases) {
      if (!harness::is_random_name(record.kernel) || record.outcome == harness::Outcome::unsupported) continue;
      ++controls.cases;
      kernels.insert(record.family + "/" + record.kernel);
      if (record.outcome == harness::Outcome::inconclusive) {
        ++controls.inconclusive_case_count;
      } else if (!harness::is_pass(record.outcome)) {
        ++controls.rejected_case_count;
        controls.rejected_case_names.push_back(record.name);
      }
    }
  }
  controls.kernels = static_cast<std::int64_t>(kernels.size());
  return controls;
}

std::string hash_of(const MutationCampaign& campaign, const std::vector<PlannedMutant>& plan) {
  std::string names;
  for (const PlannedMutant& mutant : plan)
    names += name_of(campaign, mutant) + "\n";
  return fmt::format("{:016x}", fnv1a(names));
}

/// The ledger to write to, and the mutants of a resumed ledger.
struct OpenLedger {
  harness::LineAppender lines;
  std::vector<MutantRecord> mutants;
};
Result<OpenLedger> open_ledger(const CampaignOptions& options, const MutantLedgerHeader& head) {
  if (options.resumes_campaign) {
    Result<std::optional<MutantLedger>> old = read_ledger(options.output_folder);
    if (!old.ok()) return old.error();
    if (*old && (*old)->header != head) {
      return Error{
          "file belongs to a run with other mutants or another device, commit or seed; omit --resume to start a new "
          "run",
          (std::filesystem::path(options.output_folder) / kLedgerFileName).string()};
    }
    if (*old) {
      auto lines = harness::LineAppender::reopen(std::filesystem::path(options.output_folder) / kLedgerFileName,
                                                 (*old)->complete_bytes);
      if (!lines.ok()) return lines.error();
      return OpenLedger{lines.take(), std::move((*old)->mutants)};
    }
  }
  Result<harness::LineAppender> lines = start_ledger(options.output_folder, head);
  if (!lines.ok()) return lines.error();
  return OpenLedger{lines.take(), {}};
}

/// The campaign on a device with threads; its mutants of operators that only threads detect are added to this score.
Result<MutantLedger> threads_of(const CampaignOptions& options) {
  if (options.threaded_campaign_folder.empty()) return MutantLedger{};
  Result<std::optional<MutantLedger>> ledger = read_ledger(options.threaded_campaign_folder);
  if (!ledger.ok()) return ledger.error();
  if (!*ledger)
    return Error{"folder contains no results of 'assay mutate'; create them with 'assay mutate --device ptx'",
                 options.threaded_campaign_folder};
  return **std::move(ledger);
}

}  // namespace

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const MutationOperatorEntry& row : kOperators)
    names.emplace_back(row.name);
  return names;
}

Result<PreparedCampaign> prepare_campaign(const CampaignOptions& options, backends::Device& device) {
  Result<MutationCampaign> campaign = campaign_of(options, device.target());
  if (!campaign.ok()) return campaign.error();
  if (device.target() == backends::SourceTarget::kWarpPython) {
    auto codes = warp_codes_of(campaign->kernels, device.uses_cuda_math());
    if (!codes.ok()) return codes.error();
    campaign->warp_codes = codes.take();
  }
  Result<FalsePositiveCorpus> controls = controls_of(options.false_positive_run_folders);
  if (!controls.ok()) return controls.error();
  Result<MutantLedger> threaded = threads_of(options);
  if (!threaded.ok()) return threaded.error();
  std::vector<PlannedMutant> plan = plan_mutants(*campaign, device, harness::printer());
  MutantLedgerHeader head{.device = options.device,
                          .commit = std::string(kCommitHash.substr(0, 7)),
                          .seed = options.seed,
                          .planned_mutants = plan.size(),
                          .plan_hash = hash_of(*campaign, plan)};
  Result<OpenLedger> ledger = open_ledger(options, head);
  if (!ledger.ok()) return ledger.error();
  for (const MutantRecord& mutant : ledger->mutants)
    campaign->completed_mutants.insert(mutant.name);
  return PreparedCampaign{.campaign = campaign.take(),
                          .plan = std::move(plan),
                          .false_positive_corpus = controls.take(),
                          .threaded_ledger = threaded.take(),
                          .header = std::move(head),
                          .ledger = std::move(ledger->lines),
                          .mutants = std::move(ledger->mutants)};
}

std::vector<std::string> find_stale_proofs(const PreparedCampaign& prepared, const backends::Device& device) {
  std::span<const EquivalenceProof> proofs = kEquivalenceProofs;
  if (device.target() == backends::SourceTarget::kWarpPython)
    proofs = device.uses_cuda_math() ? std::span<const EquivalenceProof>() : kWarpEquivalenceProofs;
  return find_stale_proofs(prepared.campaign, proofs, device.target(), harness::printer());
}

Result<void> run_campaign(PreparedCampaign& prepared, backends::Device& device, const std::string& compiler,
                          const std::function<void(const MutantRecord&)>& on_mutant) {
  const auto take = [&](const MutantRecord& mutant) -> Result<void> {
    if (const Result<void> put = prepared.ledger.append(to_line(mutant)); !put.ok()) return put;
    prepared.mutants.push_back(mutant);
    on_mutant(mutant);
    return {};
  };
  const auto same_code = [&](const backends::EmittedKernel& a, const backends::EmittedKernel& b) -> Result<bool> {
    if (device.target() == backends::SourceTarget::kWarpPython) return same_code_of_warp(device, a, b);
    if (device.target() == backends::SourceTarget::kCpp) return cpu::compiles_to_same_code(compiler, a, b);
    return cuda::same_compiled_code(a, b);
  };
  return run_mutants(prepared.campaign, prepared.plan, device, harness::printer(),
                     {same_code, ptx::is_barrier_1_redundant}, take);
}

MutationScore score_of(const PreparedCampaign& prepared, const std::string& device) {
  std::vector<MutantRecord> mutants = prepared.mutants;
  // Sorted by name, so that the score does not depend on the order of completion.
  std::ranges::sort(mutants, {}, &MutantRecord::name);
  MutationScore score;
  for (const MutantRecord& mutant : mutants)
    score.add(mutant);
  if (score.threaded_mutants.mutants > 0) score.threaded_device_name = device;
  for (const MutantRecord& mutant : prepared.threaded_ledger.mutants) {
    if (row(mutant.op).detectable_by != DetectableBy::kConcurrentThreads) continue;
    score.add(mutant);
    score.threaded_device_name = prepared.threaded_ledger.header.device;
  }
  return score;
}

}  // namespace assay::mutation
