// The options and the progress that `assay validate --foreign` and `assay dataset import` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "harness/dataset/foreign/import.hpp"

namespace assay::cli {

/// The options that both commands share.
struct ForeignImportOptions {
  std::string dataset;                           ///< folder or file of rows
  std::string mapping;                           ///< path of the mapping file
  std::string output;                            ///< folder for the result; empty: a temporary folder
  std::vector<std::string> devices{"warp-cpu"};  ///< names of devices that run Warp's own code
  bool uses_few_inputs = false;                  ///< whether to judge each kernel on few inputs
  bool uses_many_inputs = false;                 ///< whether to judge each kernel on many inputs
  bool skips_verification = false;               ///< whether to skip judging the kernels
  std::uint64_t seed = 1;                        ///< seed of the inputs
  bool resume = false;                           ///< whether to continue an interrupted import
  int jobs = 0;                                  ///< number of threads; 0: one for each core
};

/// `--no-verify`, `--quick` and `--thorough`.
void add_foreign_effort_options(CLI::App& command, ForeignImportOptions& options);

/// Imports the dataset with a progress display. Prints the report, as JSON if `as_json` is set, and the rate on
/// standard error. Returns the exit status: that of the error if the import failed, `incomplete` if a row is rejected
/// or undecided, else success.
int import_foreign(const ForeignImportOptions& options, bool as_json, ExitStatus incomplete);

}  // namespace assay::cli
