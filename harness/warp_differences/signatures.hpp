// The signatures of Warp's functions.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/warp/interpreter.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// The parameter names of each signature of each function of Warp, separated by spaces, by name of the function.
using WarpSignatures = std::map<std::string, std::vector<std::string>, std::less<>>;
Result<WarpSignatures> warp_signatures(const WarpInterpreter& interpreter, const std::filesystem::path& root);

/// The script that runs kernels in Warp.
std::filesystem::path script(const std::filesystem::path& root);

}  // namespace assay::warp
