// The changes since an earlier run, case by case, by result and regardless of expectations.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/environment.hpp"
#include "reports/model/run.hpp"

namespace assay::reports {

/// The known results of an earlier run.
struct Baseline {
  std::string label;  ///< path of the earlier run, as given
  /// The earlier cases, by name; each has at least the members case, outcome, kind and message.
  std::map<std::string, nlohmann::json> cases;
  /// The environment of the earlier run (devices, compilers, machine). Empty if the baseline is a table of failures, in
  /// which cases that the table does not list did not fail.
  std::optional<nlohmann::json> environment;
};

Baseline baseline_of(const Run& run, std::string label);

/// Reads the folder of a run, or a failures.csv.
Result<Baseline> read_baseline(const std::filesystem::path& path);

/// A case whose result changed.
struct CaseChange {
  std::string name;           ///< name of the case
  std::string earlier_value;  ///< earlier result: "fail(mismatch)"; empty if the case is new
  std::string later_value;    ///< later result; empty if the case is gone
  std::string message;        ///< message of the later result, or of the earlier one if the case is gone
};

/// The cases whose results changed since an earlier run, and the changes of the environment.
struct RunChanges {
  std::string baseline_label;                      ///< Baseline::label of the earlier run
  std::vector<CaseChange> broken_cases;            ///< cases that fail now, and did not fail before
  std::vector<CaseChange> changed_cases;           ///< cases that fail differently, or are unsupported in one run only
  std::vector<CaseChange> fixed_cases;             ///< cases that pass now, and failed before
  std::vector<CaseChange> added_cases;             ///< cases that were not planned in the earlier run
  std::vector<CaseChange> removed_cases;           ///< cases that were planned only in the earlier run
  std::size_t unchanged_case_count = 0;            ///< number of cases with the same result
  std::size_t failing_added_case_count = 0;        ///< number of the added cases that fail
  std::vector<EnvironmentDifference> environment;  ///< differences between the environments of the two runs

  /// Whether the later run is not worse: no case is broken, changed or gone, and no added case fails.
  [[nodiscard]] bool is_no_worse() const;
};

/// All lists are in the order of the plan; gone cases are sorted by name.
RunChanges changes_since(const Baseline& baseline, const Run& run);

/// One list of changed cases, with its name.
struct ChangeList {
  const char* name;                        ///< name of the list: "broken"
  const std::vector<CaseChange>* changes;  ///< a member of RunChanges
};
/// The lists of changed cases, the most severe first.
std::vector<ChangeList> lists_of(const RunChanges& changes);

/// The member `changes` of report.schema.json.
nlohmann::json changes_json(const RunChanges& changes);

/// The numbers of changed cases as text: "1 broken, 2 fixed; 501 the same".
std::string changes_text(const RunChanges& changes);

}  // namespace assay::reports
