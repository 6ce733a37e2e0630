// Parses PTX of ISA 8 and 9 as written by NVRTC, and hand-written PTX with the same instructions.
#pragma once

#include <string>
#include <string_view>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// Parses a module; `name` is its file name in messages.
///
/// Fails on malformed text, with the location "name:line:column" and a message. An opcode, modifier or type that is not
/// in opcode.cpp does not fail: the instruction is kept as Opcode::kUnsupported and stops a run that executes it.
Result<Module> parse(std::string text, std::string_view name);

}  // namespace assay::ptx
