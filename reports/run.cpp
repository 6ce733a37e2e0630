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

// Takes the lines in order; a line that contradicts those before it is damaged.
class Collector {
 public:
  void take(int number, const std::string& text) {
    json line = json::parse(text, nullptr, false);
    if (line.is_discarded()) return damaged(number, "", "found a line that is not JSON");
    if (const auto complaints = validator_.complaints(line); !complaints.empty()) {
      const schemas::Complaint& first = complaints.front();
      return damaged(number, first.pointer, fmt::format("found {}, expected {}", first.found, first.expected));
    }
    const std::string kind = line.at("record");
    if ((kind == "run_start") != run_.start.is_null()) {
      return damaged(number, "", fmt::format("found {}, expected run_start as the first line and only there", kind));
    }
    if (run_.end) return damaged(number, "", "found a line after the run's end");
    if (kind == "case") return take_case(number, std::move(line));
    if (kind == "run_end") {
      run_.end = std::move(line);
      return;
    }
    for (const json& name : line.at("plan"))
      position_.emplace(name, position_.size());
    run_.cases.resize(position_.size());
    run_.start = std::move(line);
  }

  [[nodiscard]] const std::vector<DamagedLine>& damage() const { return run_.damaged; }
  [[nodiscard]] bool has_start() const { return !run_.start.is_null(); }

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
  void damaged(int number, std::string pointer, std::string message) {
    run_.damaged.push_back({.number = number, .pointer = std::move(pointer), .message = std::move(message)});
  }

  void take_case(int number, json line) {
    const std::string name = line.at("case");
    const auto found = position_.find(name);
    if (found == position_.end()) return damaged(number, "/case", fmt::format("the case {} is not in the plan", name));
    json& slot = run_.cases[found->second];
    if (!slot.is_null()) return damaged(number, "/case", fmt::format("the case {} has two lines", name));
    slot = std::move(line);
  }

  schemas::Validator validator_{schemas::kRecordSchemaText};
  Run run_;
  std::unordered_map<std::string, std::size_t> position_;  // in the plan, by name
};

}  // namespace

std::string damage_text(const DamagedLine& line) {
  return line.pointer.empty() ? line.message : fmt::format("{}: {}", line.pointer, line.message);
}

void hold_to(Run& run, const json& expectations) {
  run.start["expectations"] = expectations;
  hold(run);
}

Result<Run> read_run(const std::filesystem::path& dir, Damage damage) {
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
    collector.take(number, line);
    if (collector.damage().empty() || (damage == Damage::listed && collector.has_start())) continue;
    return Error{damage_text(collector.damage().front()), fmt::format("{}:{}", file.string(), number)};
  }
  Result<Run> run = collector.finish(truncated);
  if (!run.ok()) return Error{run.error().message, file.string()};
  return run;
}

}  // namespace assay::reports
