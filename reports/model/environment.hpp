// What a run was made with, in words.
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

// `environment` is that of a run's start.
std::vector<EnvironmentRow> environment_rows(const nlohmann::json& environment);

struct EnvironmentDifference {
  std::string label;
  std::string before;  // "none" where there was no such row
  std::string after;
};

std::vector<EnvironmentDifference> environment_differences(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace assay::reports
