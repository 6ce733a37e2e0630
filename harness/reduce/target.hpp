// What `assay reduce` and `assay reproduce` are given: a case, a kernel or the folder of a failure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/reduce/failure.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// A kernel that fails, and the folder for what is left of it.
struct Target {
  harness::KernelSource source;
  Failure failure;
  std::filesystem::path folder;
};

/// Finds what to reduce. `name` is a failure's folder, or a selector of one kernel whose cases are judged under the
/// options until one fails; nothing if none does. Fails if the name is invalid or the device cannot run here.
Result<std::optional<Target>> find_target(const std::string& name, harness::SuiteOptions options);

/// The failure in a folder, judged again.
struct Reproduction {
  harness::CaseRecord record;
  std::filesystem::path file;  ///< the kernel that was judged
  Ending expected;
  bool reproduced = false;
  std::string unsupported = {};  ///< why the device cannot run here; empty if it can
};

/// Judges the reduced kernel of the folder, or with `original` the kernel as it was. Fails if the folder is incomplete.
Result<Reproduction> reproduce(const std::filesystem::path& folder, bool original);

}  // namespace assay::reduce
