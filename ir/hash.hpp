// The identity of a program.
#pragma once

#include <string>

#include "ir/module.hpp"

namespace assay::ir {

/// SHA-256 of the canonical text, as 64 hexadecimal digits. It does not depend on names and numbering, and differs for
/// different programs.
std::string hash(const Module& module);

}  // namespace assay::ir
