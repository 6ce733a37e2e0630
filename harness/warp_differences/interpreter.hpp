// Finds a Python interpreter with NVIDIA Warp.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.hpp"

namespace assay::warp {

struct WarpInterpreter {
  std::filesystem::path program;
  std::string version;  ///< of Warp: "1.19.0"
};

/// Tries only $ASSAY_WARP_PYTHON if it is set; else the environment that ci/setup-warp creates under `root`, then
/// python3. Fails with the interpreter that was tried and how to install Warp.
Result<WarpInterpreter> find_interpreter(const std::filesystem::path& root);

/// The script that runs kernels in Warp.
std::filesystem::path script(const std::filesystem::path& root);

}  // namespace assay::warp
