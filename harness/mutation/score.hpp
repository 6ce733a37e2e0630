// The mutation score of a campaign: the share of killed mutants, by operator, family and precision variant.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/mutation/mutation_testing.hpp"

namespace assay::mutation {

struct MutantCounts {
  std::int64_t mutants = 0;     ///< without equivalent and invalid mutants
  std::int64_t killed = 0;      ///< by either precision variant
  std::int64_t promotable = 0;  ///< mutants that f64 promotion can detect
  std::int64_t killed_by_promotion = 0;
  std::int64_t killed_by_native = 0;
  std::int64_t equivalent = 0;
  std::int64_t equivalent_by_proof = 0;
  std::set<std::string> kernels = {};  ///< kernels with at least one killed mutant

  void add(const MutantRecord& mutant);
  /// The mutation score killed / mutants; 1 if there are no mutants.
  double share() const;
};

struct MutationScore {
  MutantCounts single_thread_mutants;  ///< mutants that a device without concurrent threads can detect
  MutantCounts threaded;               ///< mutants that only a device with concurrent threads can detect
  std::string threaded_device = {};    ///< device of the threaded mutants
  std::map<Operator, MutantCounts> by_operator;
  std::map<std::string, MutantCounts> by_family;
  std::map<std::string, std::int64_t> by_check;  ///< first check that killed a mutant, in either precision variant
  std::array<std::int64_t, kWidenings.size()>
      killed_with_widened_bounds{};  ///< number of the `widened_kills` mutants killed, by factor
  std::int64_t widened_kills = 0;    ///< kills by native precision that were judged again with widened bounds
  std::vector<MutantRecord> survivors;

  void add(const MutantRecord& mutant);
};

}  // namespace assay::mutation
