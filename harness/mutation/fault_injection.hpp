// Runs the suite with each fault of harness/mutation/injected_fault.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/mutation/injected_fault.hpp"
#include "support/result.hpp"

namespace assay::mutation {

/// Called with each result as soon as it is available.
using FaultCallback = std::function<void(const FaultResult&)>;

/// Judges the kernel of each fault with the program assay-faulty from the folder of this program, first without and
/// then with the fault. Writes the runs to `dir`/faults. Fails if the program is missing, or if the verdict on a kernel
/// is incorrect without a fault.
Result<std::vector<FaultResult>> run_injected_faults(const std::filesystem::path& dir, const std::string& compiler,
                                                     const FaultCallback& take);

}  // namespace assay::mutation
