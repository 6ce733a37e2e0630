// The languages in which a kernel may be written: one row each. A frontend turns a source text into a set of kernels.
//
//     if (const LanguageFrontend* row = frontend_of("wave.py")) auto parsed = row->parse(text, "wave.py", finder);
//
// To add a language, write its folder and add a line to the table in frontend/registry.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/interface/diagnostic.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// A kernel or function that the file defines, whether or not it was parsed.
struct FunctionDeclaration {
  std::string name;        ///< name of the kernel or function
  bool is_kernel = false;  ///< whether it is a kernel
  bool is_parsed = false;  ///< whether it is in the module; functions that no kernel needs may be missing, with a note
  bool uses_thread_index = false;  ///< whether it is a parsed kernel that uses its thread index
  bool has_assumptions = false;    ///< whether the frontend assumed types or values that the file does not specify
  /// A statement that, appended to the file, specifies everything that the frontend assumed. Empty if there is none.
  std::string suggested_overload;
  ir::Loc loc;                               ///< location of the definition
  std::vector<std::string> parameter_names;  ///< names of the parameters, in order
};

/// The result of parsing a source text.
struct ParsedFile {
  ir::Module module;  ///< the parsed kernels and functions; the module is valid, so ir::verify finds nothing
  std::vector<Diagnostic> diagnostics;            ///< errors and notes, in the order of the file
  std::vector<FunctionDeclaration> declarations;  ///< kernels and functions, in the order of the file
};

/// The text of a module, and the name of its file for messages.
struct ModuleSource {
  std::string file_name;  ///< name of the file, for messages
  std::string text;       ///< content of the file
};

/// Finds the module that a file imports from: "physics", "package.types" or, relative to the importing file,
/// ".types" and "..core.types". Empty if the module is not found or not readable. Files are distinguished by their
/// names.
using ModuleFinder =
    std::function<std::optional<ModuleSource>(const std::string& importing_file, const std::string& module)>;

inline constexpr std::size_t kMaxImportedFiles = 200;         ///< the maximum number of files that may be imported
inline constexpr std::size_t kMaxImportedBytes = 20'000'000;  ///< the maximum total size of these files in bytes

/// A language in which kernels may be written, and its parser.
struct LanguageFrontend {
  std::string_view name;    ///< name of the language: "warp"
  std::string_view suffix;  ///< suffix of the language's files, with the dot: ".py"
  /// Description of a file of the language, for messages: "a Python file with Warp kernels".
  std::string_view file_description;
  std::string_view
      kernel_description;        ///< how a kernel is defined, for messages: "a function with the decorator @wp.kernel"
  std::size_t max_source_bytes;  ///< maximum size of a file in bytes; larger files are rejected
  bool is_python;                ///< whether reports and datasets show a file's text as the Python source
  /// Fails, with "file:line:column" if there is a place, only if nothing of the text can be parsed. A kernel that is
  /// not supported becomes a declaration with a diagnostic. `finder` may be empty.
  Result<ParsedFile> (*parse)(std::string_view source, std::string file_name, const ModuleFinder& finder);
};

/// All languages; the first is the default for files without a known suffix.
std::span<const LanguageFrontend> frontends();

/// The language of a file by its suffix; null if none has it.
const LanguageFrontend* frontend_of(std::string_view path);

}  // namespace assay::frontend
