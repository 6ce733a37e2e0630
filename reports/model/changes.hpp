// What changed since an earlier run, case by case: by what was found, whatever is expected.
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

// An earlier run, as far as it is known.
struct Baseline {
  std::string label;                            // the path as given
  std::map<std::string, nlohmann::json> cases;  // by name; each with at least case, outcome, kind, message
  // Nothing for a table of failures: of a case that it does not list, it is only known that it did not fail.
  std::optional<nlohmann::json> environment;
};

Baseline baseline_of(const Run& run, std::string label);

// Reads a run's folder, or a failures.csv.
Result<Baseline> read_baseline(const std::filesystem::path& path);

// One case whose result is another.
struct Change {
  std::string name;
  std::string before;   // "fail(mismatch)"; empty where the case is new
  std::string after;    // empty where it is gone
  std::string message;  // of the later result, or of the one that is gone
};

struct Changes {
  std::string since;            // the baseline's label
  std::vector<Change> broken;   // fails now, and did not
  std::vector<Change> changed;  // fails in another way, or is unsupported on one side alone
  std::vector<Change> fixed;    // passes now, and failed
  std::vector<Change> added;    // was not planned
  std::vector<Change> gone;     // is not planned now
  std::size_t same = 0;         // cases
  std::size_t added_failing = 0;
  std::vector<EnvironmentDifference> environment;

  // Whether the later run is no worse: nothing broken, changed or gone, and nothing added that fails.
  [[nodiscard]] bool is_no_worse() const;
};

// All lists are in the order of the plan, those of gone cases by name.
Changes changes_since(const Baseline& baseline, const Run& run);

// The lists with their names, the gravest first.
struct ChangeList {
  const char* name;
  const std::vector<Change>* changes;
};
std::vector<ChangeList> lists_of(const Changes& changes);

// As report.schema.json describes the member `changes`.
nlohmann::json changes_json(const Changes& changes);

// "1 broken, 2 fixed; 501 the same".
std::string changes_text(const Changes& changes);

}  // namespace assay::reports
