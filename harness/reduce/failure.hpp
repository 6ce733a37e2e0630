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

/// The conditions of a judgement, except the kernel and the machine.
struct Conditions {
  std::string device;
  std::string pass;                 ///< "forward" or "backward"
  std::string mode;                 ///< as in names of cases; empty: strict
  std::string effort = "standard";  ///< "quick", "standard" or "thorough"
  std::uint64_t seed = 1;
  std::string compiler;                      ///< for the CPU; empty: the default compiler
  std::vector<std::string> disabled_checks;  ///< disabled checks of the device ptx

  [[nodiscard]] backends::Pass which_pass() const;
  [[nodiscard]] harness::Policy policy() const;
};

std::string effort_of(bool quick, bool thorough);

/// The result of a reduction.
struct ReductionSummary {
  std::string message;  ///< message of the reduced kernel's failure
  std::string effort;   ///< effort needed to reproduce it
  std::int64_t statements_before = 0;
  std::int64_t statements = 0;
  std::int64_t trials = 0;
  double seconds = 0;
  bool is_minimal = false;  ///< no further step makes it smaller
};

struct Failure {
  std::string name;    ///< name of the case
  std::string kernel;  ///< the function in the Python text
  reduce::FailureClass failure_class;
  std::string message;
  Conditions conditions;
  std::optional<ReductionSummary> reduction_summary;
};

/// Name of the file in a failure folder.
inline constexpr const char* kFailureFile = "failure.json";

std::string to_json(const Failure& failure);

/// Reads the file in a failure folder. Fails with the path and the cause.
Result<Failure> read_failure(const std::filesystem::path& folder);

}  // namespace assay::reduce
