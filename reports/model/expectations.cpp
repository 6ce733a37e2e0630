#include "reports/model/expectations.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "harness/records/mode_name.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

const std::string& text(const json& object, const char* member) {
  return object.at(member).get_ref<const std::string&>();
}

bool tells_of(const json& line, const json& record) {
  const std::string& kind = text(line, "kind");
  return line.at("outcome") == record.at("outcome") && (kind.empty() || kind == text(record, "kind")) &&
         matches_text(text(line, "message"), text(record, "message"));
}

void set(json& record, const char* standing, const ExpectationTally& line, std::string note) {
  record["expectation"] = {{"standing", standing}, {"place", line.expectation.at("place")}, {"note", std::move(note)}};
}

}  // namespace

bool matches_case(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

bool names_compiler(std::string_view patterns, const std::string& compiler) {
  if (patterns.empty()) return true;
  for (std::size_t begin = 0; begin <= patterns.size();) {
    const std::size_t end = std::min(patterns.find('|', begin), patterns.size());
    if (matches_text(patterns.substr(begin, end - begin), compiler)) return true;
    begin = end + 1;
  }
  return false;
}

bool matches_text(std::string_view pattern, const std::string& text) {
  std::string escaped;
  for (const char c : pattern) {
    if (c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return ::fnmatch(escaped.c_str(), text.c_str(), 0) == 0;
}

std::string_view ExpectationTally::state() const {
  if (is_expired) return "expired";
  if (is_stale()) return "stale";
  if (passed > 0) return "unexpected pass";
  if (changed_failures > 0) return "changed";
  return expected_failures > 0 ? "in force" : "not judged";
}

ExpectationMatcher::ExpectationMatcher(const json& start) {
  const std::string day = text(start, "started").substr(0, 10);
  for (const json& device : start.at("environment").at("devices"))
    compiler_by_device_[text(device, "name")] = text(device, "toolkit");
  for (const json& line : start.value("expectations", json::array())) {
    const std::string& expires = text(line, "expires");
    lines_.push_back({.expectation = line,
                      .covers_whole_selection = !start.contains("shard"),
                      .is_expired = !expires.empty() && expires < day});
  }
}

void ExpectationMatcher::annotate(json& record) {
  record.erase("expectation");
  std::vector<ExpectationTally*> naming;
  for (ExpectationTally& line : lines_) {
    if (!matches_case(text(line.expectation, "case"), text(record, "case"))) continue;
    if (names_compiler(line.expectation.value("compiler", ""), compiler_of(record))) naming.push_back(&line);
    else ++line.unjudged;
  }
  if (naming.empty()) return;
  const Tone tone = tone_of_outcome(text(record, "outcome"));
  if (tone == Tone::unsupported || tone == Tone::not_run) {
    for (ExpectationTally* line : naming)
      ++line->unjudged;
  } else if (tone == Tone::passed) {
    for (ExpectationTally* line : naming)
      ++line->passed;
    const ExpectationTally& line = *naming.front();
    set(record, "better", line,
        fmt::format("{} expects {}, but the case passes: remove the line", text(line.expectation, "place"),
                    outcome_text(line.expectation)));
  } else {
    note_failure(record, naming);
  }
}

std::string ExpectationMatcher::compiler_of(const json& record) const {
  const std::string_view build = harness::build_name_of_mode(text(record, "mode"));
  if (!build.empty()) return harness::describe_build(build);
  const auto found = compiler_by_device_.find(text(record, "device"));
  return found == compiler_by_device_.end() ? "" : found->second;
}

void ExpectationMatcher::note_failure(json& record, const std::vector<ExpectationTally*>& naming) {
  const auto telling =
      std::ranges::find_if(naming, [&](const ExpectationTally* line) { return tells_of(line->expectation, record); });
  if (telling == naming.end()) {
    for (ExpectationTally* line : naming)
      ++line->changed_failures;
    const ExpectationTally& line = *naming.front();
    set(record, "changed", line,
        fmt::format("{} expects {}: {}", text(line.expectation, "place"), outcome_text(line.expectation),
                    text(line.expectation, "message")));
    return;
  }
  ExpectationTally& line = **telling;
  ++line.expected_failures;
  if (line.is_expired) {
    set(record, "changed", line,
        fmt::format("{} expected this failure only until {}", text(line.expectation, "place"),
                    text(line.expectation, "expires")));
  } else {
    set(record, kExpectedFailureStanding, line, text(line.expectation, "reason"));
  }
}

}  // namespace assay::reports
