// A failed case as it is kept: what failed, and under which conditions, so that it can be judged again.
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

/// Everything that decides how a kernel is judged, beside the kernel and the machine.
struct Conditions {
  std::string device;
  std::string pass;                 ///< "forward" or "backward"
  std::string mode;                 ///< as cases name it; empty: strict
  std::string effort = "standard";  ///< "quick", "standard" or "thorough"
  std::uint64_t seed = 1;
  std::string compiler;                ///< of the CPU; empty: the usual one
  std::vector<std::string> no_checks;  ///< of the device ptx

  [[nodiscard]] backends::Pass which_pass() const;
  [[nodiscard]] harness::Policy policy() const;
};

std::string effort_of(bool quick, bool thorough);

/// What a reduction came to.
struct Reduced {
  std::string message;  ///< with which the reduced kernel fails
  std::string effort;   ///< that it takes
  std::int64_t statements_before = 0;
  std::int64_t statements = 0;
  std::int64_t trials = 0;
  double seconds = 0;
  bool finished = false;  ///< no step made it smaller
};

struct Failure {
  std::string name;    ///< of the case
  std::string kernel;  ///< the function in the Python text
  reduce::Ending ending;
  std::string message;
  Conditions conditions;
  std::optional<Reduced> reduced;
};

/// Name of the file in a failure's folder.
inline constexpr const char* kFailureFile = "failure.json";

std::string to_json(const Failure& failure);

/// Of a failure's folder. Fails with the file and what is wrong with it.
Result<Failure> read_failure(const std::filesystem::path& folder);

}  // namespace assay::reduce
