// A run as the command line shows it: progress, results, reports, archived failures.
#pragma once

#include <string>

#include "cli/import_options.hpp"
#include "harness/suite/options.hpp"
#include "support/terminal.hpp"

namespace assay::cli {

struct RunRequest {
  harness::SuiteOptions suite_options;
  PythonImportOptions
      import_options;  ///< options of the import; if enabled, the selectors of `suite_options` are imported, not parsed
  std::string baseline_path;          ///< run to compare with: its folder or its failures.csv; empty: none
  std::string mutation_score_folder;  ///< folder of an `assay mutate` run whose score the reports show; empty: none
  double reduction_time_limit_seconds = 10;  ///< seconds to spend on reducing failures; 0: none
  bool prints_every_note = false;            ///< print every note, not only the number of notes of each kind
  ColorChoice color = ColorChoice::automatic;
};

/// Judges, writes the reports and prints the result; returns the process's exit status.
int run_suite(RunRequest request);

}  // namespace assay::cli
