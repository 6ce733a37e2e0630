// Reads a Python file with Warp kernels into a Module.
//
//     auto read = read_python(text, "wave.py");
//     if (!read.ok()) ...                                  // not a Python text at all
//     for (const auto& d : read->diagnostics) print(d.text());
//     for (const auto& kernel : read->module.kernels) ...  // those that could be read
//
// The reader executes nothing of the file. It gives kernels Warp's meaning and Warp's types; what it cannot take it
// names with place, construct and reason, and goes on with the next kernel. How nodes are spelt where Python leaves a
// choice is told in frontend/writer.hpp; docs/reader.md lists what is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic.hpp"
#include "ir/module.hpp"
#include "ir/support/result.hpp"

namespace assay::frontend {

/// A kernel or function that the file defines, read or not, in the order of the file.
struct Declaration {
  std::string name;
  bool is_kernel = false;
  bool was_read = false;         ///< it is in the module; functions that no kernel needs may stay out with a note
  bool asks_for_thread = false;  ///< a kernel that was read: it calls wp.tid()
  ir::Loc loc;                   ///< of `def`
  std::vector<std::string> parameters;
};

struct ReadFile {
  ir::Module module;
  std::vector<Diagnostic> diagnostics;  ///< in the order of the file
  std::vector<Declaration> declarations;
};

/// Fails, with "file:line:column" where there is a place, only for a text that is no readable Python: not UTF-8,
/// binary, empty, larger than 2 MB, nested too deeply, or broken so that no definition is left.
Result<ReadFile> read_python(std::string_view source, std::string file_name);

}  // namespace assay::frontend
