#include "harness/dataset/finding.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 100;

std::string safe(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string what(const RowError& diagnostic) {
  std::string text = diagnostic.row_id.empty() ? "" : fmt::format("row {}: ", diagnostic.row_id.substr(0, 16));
  if (!diagnostic.json_pointer.empty()) text += diagnostic.json_pointer + ": ";
  return text + fmt::format("found {}, expected {}", diagnostic.found_text, diagnostic.expected);
}

}  // namespace

std::string quoted_excerpt(std::string_view text) {
  const bool cut = text.size() > kShown;
  return safe(Json(std::string(text.substr(0, kShown)))) + (cut ? "..." : "");
}

std::string to_text(const RowError& diagnostic) {
  const std::string place =
      diagnostic.line == 0 ? diagnostic.file : fmt::format("{}:{}", diagnostic.file, diagnostic.line);
  return fmt::format("{}: {}: {}", diagnostic.is_warning ? "warning" : "error", place, what(diagnostic));
}

Json to_json(const RowError& diagnostic) {
  return {{"level", diagnostic.is_warning ? "warning" : "error"},
          {"file", diagnostic.file},
          {"line", diagnostic.line},
          {"row", diagnostic.row_id},
          {"pointer", diagnostic.json_pointer},
          {"found", diagnostic.found_text},
          {"expected", diagnostic.expected}};
}

Json sarif_json(const std::vector<RowError>& diagnostics, std::string_view version) {
  Json results = Json::array();
  for (const RowError& diagnostic : diagnostics) {
    Json place = {{"artifactLocation", {{"uri", diagnostic.file}}}};
    if (diagnostic.line > 0) place["region"] = {{"startLine", diagnostic.line}};
    Json location = {{"physicalLocation", place}};
    if (!diagnostic.json_pointer.empty()) {
      location["logicalLocations"] = Json::array(
          {{{"fullyQualifiedName", diagnostic.row_id + "#" + diagnostic.json_pointer}, {"kind", "member"}}});
    }
    results.push_back({{"ruleId", "dataset"},
                       {"level", diagnostic.is_warning ? "warning" : "error"},
                       {"message", {{"text", what(diagnostic)}}},
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
    return fmt::format("line {}: {}", number, quoted_excerpt(text.substr(start, text.find('\n', start) - start)));
  };
  return {line_of(found), line_of(expected)};
}

}  // namespace assay::dataset
