#include "harness/dataset/complaint.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 100;

std::string safe(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string what(const Complaint& complaint) {
  std::string text = complaint.row.empty() ? "" : fmt::format("row {}: ", complaint.row.substr(0, 16));
  if (!complaint.pointer.empty()) text += complaint.pointer + ": ";
  return text + fmt::format("found {}, expected {}", complaint.found, complaint.expected);
}

}  // namespace

std::string shown(std::string_view text) {
  const bool cut = text.size() > kShown;
  return safe(Json(std::string(text.substr(0, kShown)))) + (cut ? "..." : "");
}

std::string to_text(const Complaint& complaint) {
  const std::string place = complaint.line == 0 ? complaint.file : fmt::format("{}:{}", complaint.file, complaint.line);
  return fmt::format("{}: {}: {}", complaint.warning ? "warning" : "error", place, what(complaint));
}

Json to_json(const Complaint& complaint) {
  return {{"level", complaint.warning ? "warning" : "error"},
          {"file", complaint.file},
          {"line", complaint.line},
          {"row", complaint.row},
          {"pointer", complaint.pointer},
          {"found", complaint.found},
          {"expected", complaint.expected}};
}

Json sarif_json(const std::vector<Complaint>& complaints, std::string_view version) {
  Json results = Json::array();
  for (const Complaint& complaint : complaints) {
    Json place = {{"artifactLocation", {{"uri", complaint.file}}}};
    if (complaint.line > 0) place["region"] = {{"startLine", complaint.line}};
    Json location = {{"physicalLocation", place}};
    if (!complaint.pointer.empty()) {
      location["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", complaint.row + "#" + complaint.pointer}, {"kind", "member"}}});
    }
    results.push_back({{"ruleId", "dataset"},
                       {"level", complaint.warning ? "warning" : "error"},
                       {"message", {{"text", what(complaint)}}},
                       {"locations", Json::array({location})}});
  }
  const Json driver = {{"name", "assay"}, {"version", version}, {"rules", Json::array({{{"id", "dataset"}}})}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
}

std::pair<std::string, std::string> first_difference(std::string_view found, std::string_view expected) {
  const auto [at, other] = std::ranges::mismatch(found, expected);
  const auto offset = static_cast<std::size_t>(at - found.begin());
  const std::size_t start = offset == 0 ? 0 : found.rfind('\n', offset - 1) + 1;
  const auto number = std::ranges::count(found.substr(0, start), '\n') + 1;
  const auto line_of = [&](std::string_view text) {
    if (start >= text.size()) return fmt::format("line {}: nothing", number);
    return fmt::format("line {}: {}", number, shown(text.substr(start, text.find('\n', start) - start)));
  };
  return {line_of(found), line_of(expected)};
}

}  // namespace assay::dataset
