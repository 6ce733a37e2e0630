#include "reports/model/run.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/records/outcome.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/parallel.hpp"

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

// Records before version 2.0.0 call some passes by another name.
void rename_old_passes(json& line) {
  const auto rename = [](json& outcome) {
    if (outcome == harness::kOldPass) outcome = harness::to_text(harness::Outcome::pass);
  };
  if (line.contains("outcome")) rename(line["outcome"]);
  if (line.contains("attempts")) {
    for (json& attempt : line["attempts"])
      rename(attempt);
  }
  if (!line.contains("counts")) return;
  json& counts = line["counts"];
  if (const auto old = counts.find(harness::kOldPass); old != counts.end()) {
    counts["pass"] = counts.value("pass", 0) + old->get<std::int64_t>();
    counts.erase(old);
  }
}

void hold(Run& run) {
  Expectations expectations(run.start);
  for (json& record : run.cases)
    expectations.hold(record);
  run.expectations = expectations.lines();
}

// A line by itself: what it holds, or what is wrong with it.
struct Line {
  json content;
  std::optional<DamagedLine> damage = {};
};

Line read_line(const std::string& text, const schemas::Validator& validator) {
  Line line{.content = json::parse(text, nullptr, false)};
  if (line.content.is_discarded()) {
    line.damage = {.message = "found a line that is not JSON"};
  } else if (const auto diagnostics = validator.diagnostics(line.content); !diagnostics.empty()) {
    const schemas::SchemaError& first = diagnostics.front();
    line.damage = {.pointer = first.pointer,
                   .message = fmt::format("found {}, expected {}", first.found, first.expected)};
  }
  return line;
}

// Reads lines on all cores, some hundred at a time.
class LineReader {
 public:
  explicit LineReader(std::istream& stream) : stream_(stream) {}

  // The next lines, in order; none at the end. One that has no newline is left out, see truncated().
  std::vector<Line> next() {
    constexpr std::size_t kAtOnce = 1024;
    std::vector<std::string> texts;
    for (std::string text; texts.size() < kAtOnce && std::getline(stream_, text);) {
      truncated_ = stream_.eof();
      if (!truncated_) texts.push_back(std::move(text));
    }
    std::vector<Line> lines(texts.size());
    const std::size_t parts = parts_of(texts.size());
    while (validators_.size() < parts)
      validators_.emplace_back(schemas::kRecordSchemaText);
    for_each_index(parts, static_cast<unsigned>(parts), [&](std::size_t part) {
      for (std::size_t i = part; i < texts.size(); i += parts)
        lines[i] = read_line(texts[i], validators_[part]);
    });
    return lines;
  }

  // Whether the last line was cut short.
  [[nodiscard]] bool truncated() const { return truncated_; }

 private:
  // Threads that so many lines are worth: a validator, where there is none yet, takes as long to make as some hundred
  // lines.
  [[nodiscard]] std::size_t parts_of(std::size_t lines) const {
    constexpr std::size_t kWorthAThread = 200;
    const std::size_t worth =
        std::clamp<std::size_t>(lines / kWorthAThread, 1, std::max(1U, std::thread::hardware_concurrency()));
    return std::max(worth, std::min(lines, validators_.size()));
  }

  std::istream& stream_;
  std::vector<schemas::Validator> validators_;  // one for each thread
  bool truncated_ = false;
};

// Takes the lines in order; a line that contradicts those before it is damaged.
class Collector {
 public:
  void take(int number, Line read) {
    if (read.damage) return damaged(number, std::move(read.damage->pointer), std::move(read.damage->message));
    json line = std::move(read.content);
    rename_old_passes(line);
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
  LineReader reader(stream);
  int number = 0;
  for (std::vector<Line> lines = reader.next(); !lines.empty(); lines = reader.next()) {
    for (Line& line : lines) {
      collector.take(++number, std::move(line));
      if (collector.damage().empty() || (damage == Damage::listed && collector.has_start())) continue;
      return Error{damage_text(collector.damage().front()), fmt::format("{}:{}", file.string(), number)};
    }
  }
  Result<Run> run = collector.finish(reader.truncated());
  if (!run.ok()) return Error{run.error().message, file.string()};
  return run;
}

}  // namespace assay::reports
