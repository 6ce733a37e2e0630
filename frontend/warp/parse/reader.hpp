// Parses a Python file with Warp kernels into a Module.
//
//     auto read = parse_python(text, "wave.py");
//     if (!read.ok()) ...                                  // not Python
//     for (const auto& d : read->diagnostics) print(d.text());
//     for (const auto& kernel : read->module.kernels) ...  // the supported ones
//
// The parser executes nothing. Kernels have Warp's semantics and types; unsupported constructs are reported with
// location, construct and reason, and parsing continues with the next kernel. backends/source/warp/writer.hpp documents
// the Python spelling of IR nodes; docs/design/frontend.md lists the supported features.
#pragma once

#include <string>
#include <string_view>

#include "frontend/interface/frontend.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// Fails, with "file:line:column" if there is a location, only for a text that is not valid Python source: not UTF-8,
/// binary, empty, larger than 2 MB, nested too deeply, or without a definition that can be parsed.
///
/// Functions, structs, constants and types of other modules are supported if `finder` finds these modules. Names of
/// modules that are not found or not readable are unknown.
Result<ParsedFile> parse_python(std::string_view source, std::string file_name, const ModuleFinder& finder = {});

}  // namespace assay::frontend
