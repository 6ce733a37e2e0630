#include "reports/model/environment.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::reports {
namespace {

using nlohmann::json;

std::string device_text(const json& device) {
  if (!device.at("available").get<bool>()) return "not available: " + device.at("reason").get<std::string>();
  const std::string description = device.at("description");
  const std::string toolkit = device.at("toolkit");
  return fmt::format("{}{}{}", description, description.empty() || toolkit.empty() ? "" : ", ", toolkit);
}

std::string text_of(const std::vector<EnvironmentRow>& rows, const std::string& label) {
  const auto found = std::ranges::find(rows, label, &EnvironmentRow::label);
  return found == rows.end() ? "none" : found->value;
}

}  // namespace

std::vector<EnvironmentRow> environment_rows(const json& environment) {
  std::vector<EnvironmentRow> rows;
  const auto add = [&](const std::string& label, const std::string& text) {
    rows.push_back({.label = label, .value = text.empty() ? "unknown" : text});
  };
  add("Operating system", environment.at("os"));
  add("Processor", environment.at("cpu"));
  add("Compiler", environment.at("compiler"));
  add("NVRTC", environment.at("nvrtc"));
  for (const json& device : environment.at("devices"))
    add("Device " + device.at("name").get<std::string>(), device_text(device));
  for (const json& device : environment.at("devices")) {
    if (device.contains("confinement"))
      add("Confinement on " + device.at("name").get<std::string>(), device.at("confinement"));
  }
  add("Commit", environment.at("commit").get<std::string>() +
                    (environment.at("dirty").get<bool>() ? ", with local changes" : ""));
  return rows;
}

std::vector<EnvironmentDifference> environment_differences(const json& before, const json& after) {
  const std::vector<EnvironmentRow> old_rows = environment_rows(before);
  const std::vector<EnvironmentRow> new_rows = environment_rows(after);
  std::vector<EnvironmentDifference> differences;
  for (const EnvironmentRow& row : new_rows) {
    const std::string was = text_of(old_rows, row.label);
    if (was != row.value) differences.push_back({.label = row.label, .earlier_value = was, .later_value = row.value});
  }
  for (const EnvironmentRow& row : old_rows) {
    if (text_of(new_rows, row.label) == "none")
      differences.push_back({.label = row.label, .earlier_value = row.value, .later_value = "none"});
  }
  return differences;
}

}  // namespace assay::reports
