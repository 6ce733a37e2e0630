// An archived failure: what failed, and under which conditions, so that it can be judged again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/reduce/failure_class.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// The conditions of a judgment, except the kernel and the machine.
struct JudgingConditions {
  std::string device;                        ///< name of the device
  std::string pass;                          ///< pass of the case: "forward" or "backward"
  std::string mode;                          ///< numeric mode, as in names of cases; empty: strict
  std::string judging_effort = "standard";   ///< how thoroughly the case is judged: "quick", "standard" or "thorough"
  std::uint64_t seed = 1;                    ///< seed of the inputs
  std::string compiler;                      ///< C++ compiler of the device cpu; empty: the default compiler
  std::vector<std::string> disabled_checks;  ///< names of the disabled run-time checks of the device ptx
  std::string nvrtc_version_or_path = {};    ///< NVRTC of the device ptx; empty: the default NVRTC
  std::vector<std::string> architectures = {};  ///< architectures of the device ptx; empty: the default ones

  [[nodiscard]] backends::Pass parsed_pass() const;
  [[nodiscard]] harness::JudgingPolicy policy() const;
};

std::string effort_of(bool quick, bool thorough);

/// The result of a reduction.
struct ReductionSummary {
  std::string message;         ///< message of the reduced kernel's failure
  std::string judging_effort;  ///< effort with which the reduced kernel fails: "quick", "standard" or "thorough"
  std::int64_t statements_before = 0;  ///< number of statements of the original kernel
  std::int64_t statements_after = 0;   ///< number of statements of the reduced kernel
  std::int64_t candidate_count = 0;    ///< number of candidates that were judged
  double seconds = 0;                  ///< wall time of the reduction
  bool is_minimal = false;             ///< whether no further step makes the kernel smaller
};

/// A failed case: the content of failure.json.
struct Failure {
  std::string name;                                   ///< name of the case
  std::string kernel;                                 ///< name of the function in the Python text
  reduce::FailureClass failure_class;                 ///< how the case failed
  std::string message;                                ///< message of the case
  JudgingConditions conditions;                       ///< conditions under which the case failed
  std::optional<ReductionSummary> reduction_summary;  ///< empty if the kernel was not reduced
};

/// Name of the file that describes the failure, in a failure folder.
inline constexpr const char* kFailureFileName = "failure.json";

std::string to_json(const Failure& failure);

/// Reads the file in a failure folder. Fails with the path and the cause.
Result<Failure> read_failure(const std::filesystem::path& folder);

}  // namespace assay::reduce
