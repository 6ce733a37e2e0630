// What a campaign says of the suite's strength: killed of all that are no equivalents, by operator, family and lane.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/mutation/mutation_testing.hpp"

namespace assay::mutation {

struct Tally {
  std::int64_t mutants = 0;   ///< equivalent, proved equal and invalid ones not counted
  std::int64_t killed = 0;    ///< by either lane
  std::int64_t promoted = 0;  ///< of the mutants, those that the double lift can tell
  std::int64_t by_promotion = 0;
  std::int64_t by_native = 0;
  std::int64_t equivalent = 0;
  std::int64_t proved = 0;
  std::set<std::string> kernels = {};  ///< that killed one

  void add(const MutantRecord& mutant);
  /// Of the killed in the mutants; 1 where there are none.
  double share() const;
};

struct Score {
  Tally all;                         ///< of the mutants that a device without threads of its own can tell
  Tally threaded;                    ///< of the device-only ones
  std::string threaded_device = {};  ///< that ran these
  std::map<Operator, Tally> by_operator;
  std::map<std::string, Tally> by_family;
  std::map<std::string, std::int64_t> by_check;                  ///< first check that killed, of either lane
  std::array<std::int64_t, kWidenings.size()> killed_widened{};  ///< of `widened` mutants
  std::int64_t widened = 0;                                      ///< native kills that were judged again
  std::vector<MutantRecord> survivors;

  void add(const MutantRecord& mutant);
};

}  // namespace assay::mutation
