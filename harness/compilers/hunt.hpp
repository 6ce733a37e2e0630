// Searches for kernels that a compiler translates incorrectly: judges random kernels with several compilers, and
// reduces the CUDA C++ of those that are blamed on one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/suite/options.hpp"
#include "support/result.hpp"

namespace assay::compilers {

/// The options of a hunt.
struct MiscompilationHuntOptions {
  harness::SuiteOptions suite_options;     ///< builds, mode and effort; selectors and output are set by the hunt
  std::filesystem::path folder;            ///< folder of the hunt, which a later hunt continues
  std::chrono::milliseconds time_limit{};  ///< wall time after which no new round starts
  std::chrono::milliseconds reduction_time_limit{};  ///< wall time for reducing one source
  unsigned jobs = 1;                                 ///< number of compilations at the same time while reducing
};

/// The state of a hunt over all its rounds, also those of earlier runs.
struct MiscompilationHuntCounts {
  std::uint64_t round_count = 0;         ///< number of finished rounds
  std::uint64_t kernels = 0;             ///< number of judged kernels
  std::uint64_t cases = 0;               ///< number of judged cases: one kernel, pass and build each
  std::uint64_t failing_case_count = 0;  ///< number of cases that failed
  double judging_seconds = 0;            ///< time of judging, summed over the rounds
};

/// Continues the hunt in the folder round by round. Three rounds in four draw stress kernels (stress_kernels.hpp), the
/// fourth draws one random kernel of each family. Each round is a run with its own records in folder/round_N; a round
/// that was interrupted is judged again. `tell` gets the lines for the user. Fails if an option is invalid or a file
/// cannot be written.
Result<MiscompilationHuntCounts> hunt(const MiscompilationHuntOptions& options,
                                      const std::function<void(const std::string&)>& tell);

/// Reads the rounds of a hunt.
Result<MiscompilationHuntCounts> read_hunt(const std::filesystem::path& folder);

}  // namespace assay::compilers
