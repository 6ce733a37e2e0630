// Runs the suite with each of the faults of harness/mutation/injected_fault.hpp planted in it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/mutation/injected_fault.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// Called with each result as it comes.
using TakeFault = std::function<void(const mutation::FaultResult&)>;

/// Judges each plant's kernel by assay-faulty, which lies beside this program, first without any fault, then with it.
/// Keeps the runs in `dir`/plants. Fails where the program is missing, or a kernel has no sound verdict to begin with.
Result<std::vector<mutation::FaultResult>> run_injected_faults(const std::filesystem::path& dir,
                                                               const std::string& compiler, const TakeFault& take);

}  // namespace assay::cli
