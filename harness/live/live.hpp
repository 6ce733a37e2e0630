// Kernels as a running Python has them: imports a user's file or module in a confined process and exports each live
// kernel as a standalone file. Start reading here.
//
//     auto imported = live::import_kernels({.files = {"wave.py"}});
//     for (const live::ImportedKernel& kernel : imported->kernels) ...   // kernel.source_text, or why there is none
//
// The process runs python/assay/_live.py, which the program contains. It can read files but not change them, use no
// network, and has limits of time, memory and processes (backends/worker/confinement.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/worker/protocol.hpp"
#include "harness/live/kernel_origin.hpp"
#include "support/result.hpp"

namespace assay::live {

/// What to import, and the limits of the import.
struct ImportRequest {
  std::vector<std::string> files;         ///< paths of the Python files to import
  std::vector<std::string> module_names;  ///< dotted names; "name.*" also imports all modules of a package
  std::string python_interpreter;         ///< the interpreter; empty: see python::find_python
  /// Whether the exported files name the user's files by their paths in their packages, and the origin is given.
  bool is_for_dataset = false;
  std::chrono::seconds time_limit{120};                       ///< limit on the wall time of the import
  std::uint64_t memory_limit_bytes = std::uint64_t{8} << 30;  ///< memory limit of the import
};

/// A kernel of the imported files and modules.
struct ImportedKernel {
  std::string name;          ///< name of the module, and a name that is unique in it: "wave.step"
  std::string selector;      ///< selects the kernel on the command line: "wave.py:step"
  std::string file;          ///< path of the user's file
  std::int32_t line = 0;     ///< line of the kernel in that file
  std::string source_text;   ///< the exported standalone file; empty if the kernel cannot be exported
  std::string export_error;  ///< why the kernel cannot be exported; empty if it can
  KernelOrigin origin = {};  ///< with ImportRequest::is_for_dataset: where the text comes from
};

/// A file of the user and its content at the time of the import.
struct SourceFile {
  std::string path;    ///< path of the file
  std::string sha256;  ///< hash of the content
};

/// The result of an import.
struct ImportedKernels {
  std::vector<ImportedKernel> kernels;   ///< the kernels, in the order of their definitions
  std::vector<SourceFile> sources;       ///< user files from which text was exported
  std::vector<std::string> notes;        ///< messages for the user, one line each
  std::string output_tail;               ///< last part of what the import printed
  std::uint64_t total_output_bytes = 0;  ///< total number of bytes that it printed
  worker::Confinement confinement{};     ///< how the process was confined
};

/// Imports and exports. Fails with one line if the import fails, ends the process, exceeds a limit, or if the
/// interpreter is missing or has no suitable Warp; the error's place is the line of the user's code if it is known.
Result<ImportedKernels> import_kernels(const ImportRequest& request);

/// The first source whose content has changed since the import, if any.
std::optional<std::string> changed_source(const std::vector<SourceFile>& sources);

/// The file with the end of what the import printed.
inline constexpr const char* kImportLogFileName = "import.log";

/// Writes each exported text to FOLDER/<name>.py and the output of the import to FOLDER/import.log. Creates the folder.
/// Fails if a file cannot be written.
Result<void> write_exports(const ImportedKernels& imported, const std::filesystem::path& folder);

}  // namespace assay::live
