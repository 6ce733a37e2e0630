// The environment of a run, as text.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace assay::reports {

struct EnvironmentRow {
  std::string label;  // "Compiler", "Device cuda"
  std::string text;
  friend bool operator==(const EnvironmentRow&, const EnvironmentRow&) = default;
};

// `environment` is the member of the run's start record.
std::vector<EnvironmentRow> environment_rows(const nlohmann::json& environment);

struct EnvironmentDifference {
  std::string label;
  std::string before;  // "none" if there was no such row
  std::string after;
};

std::vector<EnvironmentDifference> environment_differences(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace assay::reports
