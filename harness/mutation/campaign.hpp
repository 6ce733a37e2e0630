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

struct CampaignOptions {
  std::vector<std::string> selectors{"*"};
  std::vector<std::string> operators;  ///< names; empty: all operators whose mutants the device can detect
  std::string device = "cpu";
  std::size_t mutants = 300;
  std::uint64_t seed = 1;
  int random_kernels = 0;  ///< kernels of each family in addition to the curated ones
  int jobs = 0;
  bool quick = false;
  bool judges_widened_bounds = false;
  bool resume = false;
  std::vector<std::string>
      false_positive_runs;               ///< folders of runs over correct random kernels: the false-positive corpus
  std::string threaded_campaign_folder;  ///< folder of a campaign on a device with threads; empty: none
  std::string compiler;
  std::string output = "out";
};

/// The names of all mutation operators.
std::vector<std::string> operator_names();

/// A planned campaign with an open ledger.
struct PreparedCampaign {
  Campaign campaign;
  std::vector<PlannedMutant> plan;
  FalsePositiveCorpus controls;  ///< results of runs over correct kernels
  Ledger threaded;               ///< of CampaignOptions::threaded_campaign_folder
  LedgerHead head;
  harness::AppendedLines lines;
  std::vector<MutantRecord> mutants;  ///< judged mutants, those of a resumed ledger first
};

/// Selects the kernels and plans the mutants. Fails if an option, a selector or a folder is invalid.
Result<PreparedCampaign> prepare_campaign(const CampaignOptions& options, backends::Device& device);

/// The kernels with a proof of equivalence that matches no mutant any more; must be empty.
std::vector<std::string> stale_proofs(const PreparedCampaign& prepared, backends::SourceTarget target);

/// Judges the remaining mutants and appends a ledger line for each. Calls `on_mutant` after each. Fails if a line
/// cannot be written.
Result<void> run_campaign(PreparedCampaign& prepared, backends::Device& device, const std::string& compiler,
                          const std::function<void(const MutantRecord&)>& on_mutant);

/// The score of all mutants, including those of the threaded campaign that only threads can detect.
MutationScore score_of(const PreparedCampaign& prepared, const std::string& device);

}  // namespace assay::mutation
