// Finds a Python interpreter with NVIDIA Warp.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.hpp"

namespace assay::warp {

/// A Python interpreter that can import Warp.
struct WarpInterpreter {
  std::filesystem::path program;  ///< path of the Python program
  std::string version;            ///< version of Warp: "1.19.0"
};

/// Tries only $ASSAY_WARP_PYTHON if it is set; else the environment that ci/setup-warp creates, then python3. Reads the
/// version of the installed package without starting Warp. Fails with the interpreter that was tried and how to install
/// Warp; also if its version is not supported.
Result<WarpInterpreter> find_interpreter();

/// find_interpreter() of the first call in this process.
const Result<WarpInterpreter>& known_interpreter();

}  // namespace assay::warp
