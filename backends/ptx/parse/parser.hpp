// Reads PTX of ISA 8 and 9 in the form that NVRTC writes, and hand-written PTX of the same instructions.
#pragma once

#include <string>
#include <string_view>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// The module that the text describes; `name` stands for it in messages.
///
/// Fails on malformed text, with the place "name:line:column" and a message of what was found and what was expected.
/// An opcode, modifier or type that opcode.cpp lacks is no failure: the instruction is kept as Opcode::kUnsupported
/// and ends the run that executes it.
Result<Module> parse(std::string text, std::string_view name);

}  // namespace assay::ptx
