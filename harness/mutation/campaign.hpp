// A mutation testing campaign from its options to its score: plans the mutants, judges them, keeps the ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/mutation/injected_fault.hpp"
#include "harness/mutation/ledger.hpp"
#include "harness/mutation/mutation_testing.hpp"
#include "harness/mutation/score.hpp"
#include "harness/mutation/score_json.hpp"
#include "support/result.hpp"

namespace assay::mutation {

/// The options of a campaign.
struct CampaignOptions {
  std::vector<std::string> selectors{"*"};  ///< selectors of the kernels to mutate
  std::vector<std::string> operators;  ///< names of mutation operators; empty: all whose mutants the device can detect
  std::string device = "cpu";          ///< device that judges the mutants
  std::size_t max_mutants = 300;       ///< maximum number of mutants
  std::uint64_t seed = 1;              ///< seed of the choice of mutants and of the inputs
  int random_kernels_per_family = 0;   ///< number of random kernels of each family, in addition to the curated ones
  int jobs = 0;                        ///< number of kernels processed concurrently; 0: one per core
  bool uses_few_inputs = false;        ///< whether to judge on fewer inputs (JudgingPolicy::quick)
  /// Whether to judge killed mutants again with widened bounds (kBoundWideningFactors).
  bool judges_widened_bounds = false;
  bool resumes_campaign = false;  ///< whether to continue the campaign whose ledger is in `output_folder`
  std::vector<std::string>
      false_positive_run_folders;        ///< folders of runs over correct random kernels: the false-positive corpus
  std::string threaded_campaign_folder;  ///< folder of a campaign on a device with concurrent threads; empty: none
  std::string compiler;                  ///< C++ compiler, as for --cxx; empty: the default
  std::string output_folder = "out";     ///< folder of the ledger and the score
};

/// The names of all mutation operators.
std::vector<std::string> operator_names();

/// A planned campaign with an open ledger.
struct PreparedCampaign {
  MutationCampaign campaign;                  ///< the kernels, and how their mutants are judged
  std::vector<PlannedMutant> plan;            ///< all planned mutants
  FalsePositiveCorpus false_positive_corpus;  ///< results of the runs over correct kernels
  MutantLedger threaded_ledger;       ///< ledger of CampaignOptions::threaded_campaign_folder; empty if there is none
  MutantLedgerHeader header;          ///< first line of the ledger
  harness::LineAppender ledger;       ///< the open ledger
  std::vector<MutantRecord> mutants;  ///< judged mutants; those of a resumed ledger come first
};

/// Selects the kernels and plans the mutants. Fails if an option, a selector or a folder is invalid.
Result<PreparedCampaign> prepare_campaign(const CampaignOptions& options, backends::Device& device);

/// The kernels with a proof of equivalence that no longer matches a mutant; the result must be empty.
std::vector<std::string> find_stale_proofs(const PreparedCampaign& prepared, const backends::Device& device);

/// Judges the remaining mutants and appends a ledger line for each. Calls `on_mutant` after each. Fails if a line
/// cannot be written.
Result<void> run_campaign(PreparedCampaign& prepared, backends::Device& device, const std::string& compiler,
                          const std::function<void(const MutantRecord&)>& on_mutant);

/// The score of all mutants, including those of the threaded campaign that only threads can detect.
MutationScore score_of(const PreparedCampaign& prepared, const std::string& device);

}  // namespace assay::mutation
