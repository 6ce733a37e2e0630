// Finds a Python that has NVIDIA Warp.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.hpp"

namespace assay::warp {

struct Interpreter {
  std::filesystem::path program;
  std::string version;  ///< of Warp: "1.19.0"
};

/// In this order: $ASSAY_WARP_PYTHON, the environment that ci/setup-warp makes under `root`, python3. Fails with what
/// was tried and how to install Warp. A Python that $ASSAY_WARP_PYTHON names is the only one tried.
Result<Interpreter> find_interpreter(const std::filesystem::path& root);

/// The script that runs kernels in Warp.
std::filesystem::path script(const std::filesystem::path& root);

}  // namespace assay::warp
