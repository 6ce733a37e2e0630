// Reads a Python file with Warp kernels into a Module.
//
//     auto read = read_python(text, "wave.py");
//     if (!read.ok()) ...                                  // not a Python text at all
//     for (const auto& d : read->diagnostics) print(d.text());
//     for (const auto& kernel : read->module.kernels) ...  // those that could be read
//
// The reader executes nothing of the file. It gives kernels Warp's meaning and Warp's types; what it cannot take it
// names with place, construct and reason, and goes on with the next kernel. How nodes are spelt where Python leaves a
// choice is told in backends/source/warp/writer.hpp; docs/reader.md lists what is read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// A kernel or function that the file defines, read or not, in the order of the file.
struct Declaration {
  std::string name;
  bool is_kernel = false;
  bool was_read = false;         ///< it is in the module; functions that no kernel needs may stay out with a note
  bool asks_for_thread = false;  ///< a kernel that was read: it calls wp.tid()
  bool has_assumptions = false;  ///< a kernel for which the reader chose types or values that the file leaves open
  /// The statement that, behind the file's text, would say all that was chosen. Empty where none can.
  std::string overload;
  ir::Loc loc;  ///< of `def`
  std::vector<std::string> parameters;
};

struct ReadFile {
  ir::Module module;
  std::vector<Diagnostic> diagnostics;  ///< in the order of the file
  std::vector<Declaration> declarations;
};

/// The text of a module, and the name of its file for messages.
struct ModuleText {
  std::string file_name;
  std::string text;
};

/// Finds the module that a file imports from: "physics", "package.types" or, relative to the importing file,
/// ".types" and "..core.types". Empty where there is none that may be read. Files are told apart by their names.
using ModuleFinder =
    std::function<std::optional<ModuleText>(const std::string& importing_file, const std::string& module)>;

/// Files beyond so many, or beyond so many bytes together, are not read for one.
inline constexpr std::size_t kMostImportedFiles = 200;
inline constexpr std::size_t kMostImportedBytes = 20'000'000;

/// Fails, with "file:line:column" where there is a place, only for a text that is no readable Python: not UTF-8,
/// binary, empty, larger than 2 MB, nested too deeply, or broken so that no definition is left.
///
/// What the kernels name of other modules is read where `finder` has these: functions, structs, constants and types.
/// Without one, and of a module that is not found or not readable, such a name is unknown.
Result<ReadFile> read_python(std::string_view source, std::string file_name, const ModuleFinder& finder = {});

}  // namespace assay::frontend
