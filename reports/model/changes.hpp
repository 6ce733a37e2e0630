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

// The known results of an earlier run.
struct Baseline {
  std::string label;                            // the path as given
  std::map<std::string, nlohmann::json> cases;  // by name; each with at least case, outcome, kind, message
  // Empty for a table of failures. Cases that the table does not list did not fail.
  std::optional<nlohmann::json> environment;
};

Baseline baseline_of(const Run& run, std::string label);

// Reads the folder of a run, or a failures.csv.
Result<Baseline> read_baseline(const std::filesystem::path& path);

// A case whose result changed.
struct Change {
  std::string name;
  std::string before;   // "fail(mismatch)"; empty if the case is new
  std::string after;    // empty if the case is gone
  std::string message;  // of the later result, or of the case that is gone
};

struct Changes {
  std::string baseline_label;   // the baseline's label
  std::vector<Change> broken;   // fails now, and did not fail before
  std::vector<Change> changed;  // fails differently, or is unsupported in one run only
  std::vector<Change> fixed;    // passes now, and failed before
  std::vector<Change> added;    // not planned in the earlier run
  std::vector<Change> removed;  // not planned in the later run
  std::size_t same_count = 0;   // cases
  std::size_t added_failing = 0;
  std::vector<EnvironmentDifference> environment;

  // Whether the later run is not worse: no case is broken, changed or gone, and no added case fails.
  [[nodiscard]] bool is_no_worse() const;
};

// All lists are in the order of the plan; gone cases are sorted by name.
Changes changes_since(const Baseline& baseline, const Run& run);

// The lists with their names, the most severe first.
struct ChangeList {
  const char* name;
  const std::vector<Change>* changes;
};
std::vector<ChangeList> lists_of(const Changes& changes);

// The member `changes` of report.schema.json.
nlohmann::json changes_json(const Changes& changes);

// "1 broken, 2 fixed; 501 the same".
std::string changes_text(const Changes& changes);

}  // namespace assay::reports
