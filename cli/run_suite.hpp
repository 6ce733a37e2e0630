// A run as the command line shows it: progress, results, reports, archived failures.
#pragma once

#include <string>
#include <vector>

#include "cli/import_options.hpp"
#include "harness/suite/options.hpp"
#include "support/terminal.hpp"

namespace assay::cli {

/// A run as the command line requests it.
struct RunRequest {
  harness::SuiteOptions suite_options;  ///< options of the run
  /// Options of the import. If it is requested, the selectors of `suite_options` are imported instead of parsed.
  PythonImportOptions import_options;
  std::string baseline_path;          ///< run to compare with: its folder or its failures.csv; empty: none
  std::string mutation_score_folder;  ///< folder of an `assay mutate` run whose score the reports show; empty: none
  double reduction_time_limit_seconds = 10;  ///< wall time for reducing failures, in seconds; 0: none
  /// Whether to print every note instead of only the number of notes of each kind.
  bool prints_every_note = false;
  ColorChoice color = ColorChoice::automatic;  ///< whether output is colored
};

/// Judges, writes the reports and prints the result; returns the process's exit status. If kernels are imported, sets
/// `imported_files` to the files that define them, unless it is null.
int run_suite(RunRequest request, std::vector<std::string>* imported_files = nullptr);

/// Runs again each time the user saves a file that the selectors name or that one of these imports, until a signal ends
/// the process. Kernels that have passed and have not changed are not judged again, as in every run. Returns, with an
/// exit status, only if no selector names a file.
int run_on_save(RunRequest request);

}  // namespace assay::cli
