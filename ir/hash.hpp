// The identity of a program.
#pragma once

#include <string>

#include "ir/module.hpp"

namespace assay::ir {

/// SHA-256 of the canonical text, 64 hexadecimal digits: the same however things are named and numbered,
/// another for any other program.
std::string hash(const Module& module);

}  // namespace assay::ir
