// Finds a Python interpreter with NVIDIA Warp.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace assay::warp {

struct WarpInterpreter {
  std::filesystem::path program;
  std::string version;  ///< of Warp: "1.19.0"
};

/// Tries only $ASSAY_WARP_PYTHON if it is set; else the environment that ci/setup-warp creates under `root`, then
/// python3. Fails with the interpreter that was tried and how to install Warp.
Result<WarpInterpreter> find_interpreter(const std::filesystem::path& root);

/// The parameter names of each signature of each function of Warp, separated by spaces, by name of the function.
using WarpSignatures = std::map<std::string, std::vector<std::string>, std::less<>>;
Result<WarpSignatures> warp_signatures(const WarpInterpreter& interpreter, const std::filesystem::path& root);

/// The script that runs kernels in Warp.
std::filesystem::path script(const std::filesystem::path& root);

}  // namespace assay::warp
