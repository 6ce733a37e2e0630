// The names of kernels as their source states them.
#pragma once

#include <string>

#include "backends/ptx/execute/machine.hpp"

namespace assay::candidate {

/// The name of the C++ function with this symbol, without its parameters and anonymous namespaces: "softmax",
/// "reduce<float>"; that of a variable of a function; the symbol itself if it is not mangled.
std::string plain_name(const std::string& symbol);

/// Replaces the symbols of the kernel and of variables by plain_name() in the findings and the message.
void use_plain_names(ptx::RunResult& result);

}  // namespace assay::candidate
