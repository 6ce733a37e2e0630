#include <algorithm>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

json result_json(const std::string& rule, const char* level, const std::string& message, const json& record,
                 const std::string& file, std::int64_t line) {
  json place = {{"artifactLocation", {{"uri", fragment(file)}}}};
  if (line > 0) place["region"] = {{"startLine", line}};
  return {{"ruleId", rule},
          {"level", level},
          {"message", {{"text", message.empty() ? rule : message}}},
          {"locations", json::array({{{"physicalLocation", std::move(place)}}})},
          {"partialFingerprints", {{"case/v1", record.at("case")}}}};
}

bool lies_in_a_file(const json& record) {
  return !record.at("source").at("file").get<std::string>().empty() && record.at("source").at("line") > 0;
}

}  // namespace

json sarif_json(const Run& run, const RunSummary& summary) {
  json results = json::array();
  for (const json& record : run.cases) {
    const Tone tone = tone_of(record);
    if (!fails_run(tone) || !lies_in_a_file(record)) continue;
    const json& named = record.at(record.contains("finding") ? "finding" : "source");
    results.push_back(result_json(outcome_text(record), tone == Tone::inconclusive ? "warning" : "error",
                                  message_text(record), record, file_of(record, named), named.at("line")));
  }
  for (const UncoveredBranchLocation& way : summary.uncovered_branches) {
    const json& record = run.cases[way.first_case_position];
    if (lies_in_a_file(record))
      results.push_back(result_json("unreached", "note", "not covered by the inputs: " + way.description, record,
                                    way.file, way.line));
  }
  for (const AssumptionLocation& assumption : summary.assumptions) {
    const json& record = run.cases[assumption.first_case_position];
    if (lies_in_a_file(record))
      results.push_back(result_json("assumption", "note", "judged only for inputs for which " + assumption.description,
                                    record, record.at("source").at("file"), record.at("source").at("line")));
  }
  std::set<std::string> ids;
  for (const json& result : results)
    ids.insert(result.at("ruleId").get<std::string>());
  json rules = json::array();
  for (const std::string& id : ids)
    rules.push_back({{"id", id}});
  const json& commit = run.start.at("environment").at("commit");
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({{{"tool", {{"driver", {{"name", "assay"}, {"version", commit}, {"rules", rules}}}}},
                                 {"columnKind", "utf16CodeUnits"},
                                 {"results", results}}})}};
}

}  // namespace assay::reports
