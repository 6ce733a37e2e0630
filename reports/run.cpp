#include "reports/run.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// The line that a planned case would have, had the run come to it.
json missing_case(const std::string& name) {
  json line = {
      {"record", "case"},
      {"case", name},
      {"mode", ""},
      {"outcome", "not_run"},
      {"kind", "missing"},
      {"message", "planned, but the run left no record of it"},
      {"rho_max", nullptr},
      {"values_compared", 0},
      {"input_sets", 0},
      {"controls_rejected", 0},
      {"inconclusive", {{"path", 0}, {"kink", 0}, {"conditioning", 0}, {"overflow", 0}, {"race", 0}, {"domain", 0}}},
      {"tiers", json::object()},
      {"attempts", json::array()},
      {"time_ms",
       {{"read", 0}, {"adjoint", 0}, {"emit", 0}, {"build", 0}, {"reference", 0}, {"run", 0}, {"compare", 0}}},
      {"source", {{"file", ""}, {"line", 0}}},
      {"reproduce", ""}};
  std::size_t begin = 0;
  for (const char* part : {"family", "kernel", "types", "device", "pass", "mode"}) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    line[part] = name.substr(begin, end - begin);
    if (end == name.size()) break;
    begin = end + 1;
  }
  return line;
}

void hold(Run& run) {
  Expectations expectations(run.start);
  for (json& record : run.cases)
    expectations.hold(record);
  run.expectations = expectations.lines();
}

// Takes the lines in order; refuses one that contradicts those before it.
class Collector {
 public:
  Result<void> take(json line) {
    if (const auto complaints = validator_.complaints(line); !complaints.empty()) {
      return Error{complaints.front().text()};
    }
    const std::string kind = line.at("record");
    if ((kind == "run_start") != run_.start.is_null()) {
      return Error{fmt::format("found {}, expected run_start as the first line and only there", kind)};
    }
    if (run_.end) return Error{"found a line after the run's end"};
    if (kind == "case") return take_case(std::move(line));
    if (kind == "run_end") {
      run_.end = std::move(line);
      return {};
    }
    for (const json& name : line.at("plan"))
      position_.emplace(name, position_.size());
    run_.cases.resize(position_.size());
    run_.start = std::move(line);
    return {};
  }

  Result<Run> finish(bool truncated) {
    if (run_.start.is_null()) return Error{"found no whole line, expected the run's start"};
    for (const auto& [name, position] : position_) {
      if (run_.cases[position].is_null()) run_.cases[position] = missing_case(name);
    }
    run_.truncated = truncated;
    hold(run_);
    return std::move(run_);
  }

 private:
  Result<void> take_case(json line) {
    const std::string name = line.at("case");
    const auto found = position_.find(name);
    if (found == position_.end()) return Error{fmt::format("the case {} is not in the plan", name)};
    json& slot = run_.cases[found->second];
    if (!slot.is_null()) return Error{fmt::format("the case {} has two lines", name)};
    slot = std::move(line);
    return {};
  }

  schemas::Validator validator_{schemas::kRecordSchemaText};
  Run run_;
  std::unordered_map<std::string, std::size_t> position_;  // in the plan, by name
};

}  // namespace

void hold_to(Run& run, const json& expectations) {
  run.start["expectations"] = expectations;
  hold(run);
}

Result<Run> read_run(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / kRecordsFile;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return Error{fmt::format("cannot read records: {}", std::generic_category().message(errno)), file.string()};
  }
  Collector collector;
  std::string line;
  bool truncated = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    truncated = stream.eof();  // the line ended without a newline
    if (truncated) break;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded()) return Error{"found a line that is not JSON", where};
    if (Result<void> taken = collector.take(std::move(parsed)); !taken.ok()) {
      return Error{taken.error().message, where};
    }
  }
  Result<Run> run = collector.finish(truncated);
  if (!run.ok()) return Error{run.error().message, file.string()};
  return run;
}

}  // namespace assay::reports
