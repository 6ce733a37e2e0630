// Reads a Python file with Warp kernels into a Module.
//
//     auto read = read_python(text, "wave.py");
//     if (!read.ok()) ...                                  // not a Python text at all
//     for (const auto& d : read->diagnostics) print(d.text());
//     for (const auto& kernel : read->module.kernels) ...  // those that could be read
//
// The reader executes nothing of the file. It gives kernels Warp's meaning and Warp's types; what it cannot take it
// names with place, construct and reason, and goes on with the next kernel. How nodes are spelt where Python leaves a
// choice is told in backends/source/warp/writer.hpp; docs/design/frontend.md lists what is read.
#pragma once

#include <string>
#include <string_view>

#include "frontend/interface/frontend.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// Fails, with "file:line:column" where there is a place, only for a text that is no readable Python: not UTF-8,
/// binary, empty, larger than 2 MB, nested too deeply, or broken so that no definition is left.
///
/// What the kernels name of other modules is read where `finder` has these: functions, structs, constants and types.
/// Without one, and of a module that is not found or not readable, such a name is unknown.
Result<ParsedFile> read_python(std::string_view source, std::string file_name, const ModuleFinder& finder = {});

}  // namespace assay::frontend
