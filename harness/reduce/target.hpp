// The argument of `assay reduce` and `assay reproduce`: a case, a kernel or the folder of a failure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/reduce/failure.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// A failing kernel, and the folder for the reduced kernel.
struct ReproductionTarget {
  harness::KernelSource source;  ///< the kernel to reduce
  Failure failure;               ///< the failure to reproduce
  std::filesystem::path folder;  ///< folder for the reduced kernel
};

/// Finds the kernel to reduce. `name` is a failure folder, or a selector of one kernel, whose cases are judged with the
/// options until one fails; returns nothing if none fails. Fails if the name is invalid or the device cannot run here.
Result<std::optional<ReproductionTarget>> find_target(const std::string& name, harness::SuiteOptions options);

/// The failure in a folder, judged again.
struct Reproduction {
  harness::CaseRecord record;              ///< record of the case, judged again
  std::filesystem::path kernel_file_path;  ///< Python file of the kernel that was judged
  FailureClass archived_failure_class;     ///< how the archived case failed
  bool is_reproduced = false;              ///< whether the case failed in the same way again
  std::string unsupported_reason = {};     ///< why the device cannot run here; empty if it can
};

/// Judges the reduced kernel of the folder, or the original kernel with `original`. Fails if the folder is incomplete.
Result<Reproduction> reproduce(const std::filesystem::path& folder, bool original);

}  // namespace assay::reduce
