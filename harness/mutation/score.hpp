// The mutation score of a campaign: the share of killed mutants, by operator, family and precision variant.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/mutation/mutation_testing.hpp"

namespace assay::mutation {

/// Numbers of mutants of one set, by outcome.
struct MutantCounts {
  std::int64_t mutants = 0;                     ///< number of mutants, without equivalent and invalid ones
  std::int64_t killed = 0;                      ///< of `mutants`, those that either precision variant killed
  std::int64_t detectable_with_promotion = 0;   ///< of `mutants`, those that f64 promotion can detect
  std::int64_t killed_by_promotion = 0;         ///< of `mutants`, those that f64 promotion killed
  std::int64_t killed_by_native_precision = 0;  ///< of `mutants`, those that native precision killed
  std::int64_t equivalent_count = 0;     ///< number of mutants with the same optimized code as the correct kernel
  std::int64_t equivalent_by_proof = 0;  ///< number of mutants that a proof shows to be equivalent
  std::set<std::string> kernels_with_kills = {};  ///< names of the kernels with at least one killed mutant

  void add(const MutantRecord& mutant);
  /// The mutation score killed / mutants; 1 if there are no mutants.
  double share() const;
};

/// The mutation score of a campaign, as a whole and by operator, family and check.
struct MutationScore {
  MutantCounts single_thread_mutants;     ///< mutants that a device without concurrent threads can detect
  MutantCounts threaded_mutants;          ///< mutants that only a device with concurrent threads can detect
  std::string threaded_device_name = {};  ///< device that judged the threaded mutants; empty if there are none
  std::map<MutationOperator, MutantCounts> by_operator;  ///< counts for each operator
  std::map<std::string, MutantCounts> by_family;         ///< counts for each family of kernels
  std::map<std::string, std::int64_t> kills_by_check;    ///< number of mutants, by the first check that killed them
  /// By factor of kBoundWideningFactors: how many of `mutants_judged_with_widened_bounds` are still killed.
  std::array<std::int64_t, kBoundWideningFactors.size()> killed_with_widened_bounds{};
  /// Number of mutants that native precision killed and that were judged again with widened bounds.
  std::int64_t mutants_judged_with_widened_bounds = 0;
  std::vector<MutantRecord> survivors;  ///< mutants with status kSurvived

  void add(const MutantRecord& mutant);
};

}  // namespace assay::mutation
