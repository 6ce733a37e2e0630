#include "harness/dataset/finding.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 100;       ///< bytes of a text in a message
constexpr std::size_t kShownBefore = 40;  ///< of these, the bytes before the first difference to another text

std::string safe(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string what(const RowError& diagnostic) {
  std::string text = diagnostic.row_id.empty() ? "" : fmt::format("row {}: ", diagnostic.row_id.substr(0, 16));
  if (!diagnostic.json_pointer.empty()) text += diagnostic.json_pointer + ": ";
  return text + fmt::format("found {}, expected {}", diagnostic.found_text, diagnostic.expected);
}

/// At most kShown bytes of a text from `start` on, quoted; "..." stands for the rest.
std::string quoted_from(std::string_view text, std::size_t start) {
  const std::string_view rest = text.substr(std::min(start, text.size()));
  const bool is_cut = rest.size() > kShown;
  return fmt::format("{}{}{}", start > 0 ? "..." : "", safe(Json(std::string(rest.substr(0, kShown)))),
                     is_cut ? "..." : "");
}

}  // namespace

std::string quoted_excerpt(std::string_view text) { return quoted_from(text, 0); }

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

std::pair<std::string, std::string> excerpts_of_difference(std::string_view found, std::string_view expected) {
  const auto differing = std::ranges::mismatch(found, expected).in1;
  const auto offset = static_cast<std::size_t>(differing - found.begin());
  // A text that fits is shown from its beginning.
  const std::size_t start =
      std::max(found.size(), expected.size()) <= kShown || offset <= kShownBefore ? 0 : offset - kShownBefore;
  return {quoted_from(found, start), quoted_from(expected, start)};
}

std::pair<std::string, std::string> first_difference(std::string_view found, std::string_view expected) {
  const auto [at, other] = std::ranges::mismatch(found, expected);
  const auto offset = static_cast<std::size_t>(at - found.begin());
  const std::size_t start = offset == 0 ? 0 : found.rfind('\n', offset - 1) + 1;
  const auto number = std::ranges::count(found.substr(0, start), '\n') + 1;
  const auto line_of = [&](std::string_view text) {
    return start >= text.size() ? std::string_view() : text.substr(start, text.find('\n', start) - start);
  };
  const auto [found_line, expected_line] = excerpts_of_difference(line_of(found), line_of(expected));
  const auto shown = [&](std::string_view text, const std::string& line) {
    return fmt::format("line {}: {}", number, start >= text.size() ? "nothing" : line);
  };
  return {shown(found, found_line), shown(expected, expected_line)};
}

}  // namespace assay::dataset
