// The environment of a run, as text.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace assay::reports {

/// One line about the machine or the software of a run.
struct EnvironmentRow {
  std::string label;  ///< what the row describes: "Compiler", "Device cuda"
  std::string value;  ///< the value: a name, a version or a state
  friend bool operator==(const EnvironmentRow&, const EnvironmentRow&) = default;
};

/// `environment` is the member of the run's start record.
std::vector<EnvironmentRow> environment_rows(const nlohmann::json& environment);

/// A row that differs between two runs.
struct EnvironmentDifference {
  std::string label;          ///< EnvironmentRow::label of the differing row
  std::string earlier_value;  ///< text in the earlier run; "none" if the row is missing
  std::string later_value;    ///< text in the later run; "none" if the row is missing
};

std::vector<EnvironmentDifference> environment_differences(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace assay::reports
