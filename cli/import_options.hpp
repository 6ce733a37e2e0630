// The options --import, --module and their limits: kernels from a running Python instead of parsed files.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/live/live.hpp"
#include "harness/suite/select/exported_kernel.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// The values of these options.
struct PythonImportOptions {
  bool is_import_requested = false;       ///< whether --import or --module was given
  std::vector<std::string> module_names;  ///< modules to import: "package.sub", "package.*", "package.sub:kernel"
  std::string python_interpreter;         ///< the Python interpreter; empty: the default (python::find_python)
  std::string export_folder;              ///< folder to which the exported files are written; empty: they are not kept
  double time_limit_seconds = 120;        ///< limit on the wall time of the import, in seconds
  double memory_limit_gib = 8;            ///< memory limit of the import, in GiB
};

void add_import_options(CLI::App& command, PythonImportOptions& options);

/// Imports the selected files and modules and prints notes. `for_dataset`: see live::ImportRequest. Fails if a selector
/// is not a Python file, the import fails, no kernel is found, a selector names an unknown kernel, or the sources
/// changed meanwhile.
Result<live::ImportedKernels> import_kernels(const std::vector<std::string>& selectors,
                                             const PythonImportOptions& options, bool for_dataset);

/// The result of an import.
struct PythonImportResult {
  std::vector<harness::ExportedKernel> kernels;  ///< the exported kernels
  std::vector<live::SourceFile> sources;         ///< the user's files that the kernels were exported from
};

/// The same for the suite.
Result<PythonImportResult> import_python_sources(const std::vector<std::string>& selectors,
                                                 const PythonImportOptions& options);

}  // namespace assay::cli
