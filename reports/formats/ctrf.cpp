#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/formats/text.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

const char* status_of(Tone tone) {
  switch (tone) {
    case Tone::passed: return "passed";
    case Tone::unsupported: return "skipped";
    case Tone::expected_failures: return "other";
    case Tone::unexpected:
    case Tone::inconclusive:
    case Tone::not_run: break;
  }
  return "failed";
}

json test_json(const json& record) {
  const std::string status = status_of(tone_of(record));
  json test = {{"name", record.at("case")},
               {"status", status},
               {"duration", std::llround(total_ms(record))},
               {"suite", {record.at("family"), record.at("device"), record.at("pass")}},
               {"rawStatus", outcome_text(record)},
               {"filePath", record.at("source").at("file")},
               {"device", record.at("device")}};
  if (const std::string message = message_text(record); !message.empty()) test["message"] = message;
  if (record.at("source").at("line") > 0) test["line"] = record.at("source").at("line");
  if (record.contains("log")) test["trace"] = record.at("log");
  const json& attempts = record.at("attempts");
  if (attempts.size() > 1) {
    test["retries"] = attempts.size() - 1;
    test["flaky"] = status == "passed";
    for (std::size_t k = 0; k < attempts.size(); ++k)
      test["retryAttempts"].push_back(
          {{"attempt", k + 1}, {"status", status_of(tone_of_outcome(attempts[k].get<std::string>()))}});
  }
  if (!record.at("reproduce").get<std::string>().empty()) test["extra"] = {{"reproduce", record.at("reproduce")}};
  return test;
}

}  // namespace

json ctrf_json(const Run& run, const RunSummary& summary) {
  json tests = json::array();
  json counts = {{"passed", 0}, {"failed", 0}, {"skipped", 0}, {"pending", 0}, {"other", 0}, {"flaky", 0}};
  for (const json& record : run.cases) {
    tests.push_back(test_json(record));
    const std::string status = tests.back().at("status");
    counts[status] = counts[status].get<int>() + 1;
    if (tests.back().value("flaky", false)) counts["flaky"] = counts["flaky"].get<int>() + 1;
  }
  const std::int64_t start = epoch_ms(run.start.at("started").get<std::string>());
  counts["tests"] = tests.size();
  counts["suites"] = summary.grid.size();
  counts["start"] = start;
  counts["stop"] = run.end ? epoch_ms(run.end->at("finished").get<std::string>()) : start;
  const json& environment = run.start.at("environment");
  return {{"reportFormat", "CTRF"},
          {"specVersion", "0.0.0"},
          {"timestamp", run.end ? run.end->at("finished") : run.start.at("started")},
          {"generatedBy", "assay"},
          {"results",
           {{"tool", {{"name", "assay"}, {"version", environment.at("commit")}}},
            {"summary", counts},
            {"tests", tests},
            {"environment",
             {{"osPlatform", environment.at("os")},
              {"commit", environment.at("commit")},
              {"extra", {{"compiler", environment.at("compiler")}, {"nvrtc", environment.at("nvrtc")}}}}}}}};
}

}  // namespace assay::reports
