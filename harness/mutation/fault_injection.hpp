// Runs the suite with each of the faults of harness/mutation/injected_fault.hpp injected into it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/mutation/injected_fault.hpp"
#include "support/result.hpp"

namespace assay::mutation {

/// Called with each result as it comes.
using TakeFault = std::function<void(const FaultResult&)>;

/// Judges each fault's kernel with the program assay-faulty, which lies next to this one, first without a fault, then
/// with it. Writes the runs to `dir`/faults. Fails if the program is missing, or if a kernel's verdict is incorrect
/// without a fault.
Result<std::vector<FaultResult>> run_injected_faults(const std::filesystem::path& dir, const std::string& compiler,
                                                     const TakeFault& take);

}  // namespace assay::mutation
