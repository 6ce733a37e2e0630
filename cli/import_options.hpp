// The options --import, --module and their limits: kernels from a running Python instead of parsed files.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/live/live.hpp"
#include "harness/suite/select/exported_kernel.hpp"
#include "support/result.hpp"

namespace assay::cli {

struct ImportOptions {
  bool enabled = false;
  std::vector<std::string> modules;  ///< "package.sub", "package.*", "package.sub:kernel"
  std::string python;
  std::string keep_export;  ///< the folder for the exported files; empty: none
  double seconds = 120;
  double memory_gib = 8;
};

void add_import_options(CLI::App& command, ImportOptions& options);

/// What an import gave.
struct Import {
  std::vector<harness::ExportedKernel> kernels;
  std::vector<live::SourceFile> sources;
};

/// Imports the selected files and modules and prints notes. Fails if a selector is not a Python file, the import fails,
/// no kernel is found, a selector names an unknown kernel, or the sources changed meanwhile.
Result<Import> import_selected(const std::vector<std::string>& selectors, const ImportOptions& options);

}  // namespace assay::cli
