// Runs the suite with each of the faults of harness/certify/plants.hpp planted in it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/certify/plants.hpp"
#include "ir/support/result.hpp"

namespace assay::cli {

/// Called with each result as it comes.
using TakePlant = std::function<void(const certify::PlantResult&)>;

/// Judges each plant's kernel by assay-planted, which lies beside this program, first without any fault, then with it.
/// Keeps the runs in `dir`/plants. Fails where the program is missing, or a kernel has no sound verdict to begin with.
Result<std::vector<certify::PlantResult>> run_plants(const std::filesystem::path& dir, const std::string& compiler,
                                                     const TakePlant& take);

}  // namespace assay::cli
