#include "harness/records/record_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "harness/records/outcome.hpp"
#include "harness/records/record_json.hpp"
#include "harness/records/record_writer.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/parallel.hpp"

namespace assay::harness {
namespace {

using nlohmann::json;

// The line of a planned case that was not run.
json missing_line(const std::string& name) {
  CaseRecord record = record_of(name);
  record.outcome_detail = "missing";
  record.message = "the case was planned, but the run has no record of it";
  return json::parse(to_line(record));
}

// Records before version 2.0.0 use another name for some passes.
void rename_old_passes(json& line) {
  const auto rename = [](json& outcome) {
    if (outcome == harness::kLegacyPassText) outcome = harness::to_text(harness::Outcome::pass);
  };
  if (line.contains("outcome")) rename(line["outcome"]);
  if (line.contains("attempts")) {
    for (json& attempt : line["attempts"])
      rename(attempt);
  }
  if (!line.contains("counts")) return;
  json& counts = line["counts"];
  if (const auto old = counts.find(harness::kLegacyPassText); old != counts.end()) {
    counts["pass"] = counts.value("pass", 0) + old->get<std::int64_t>();
    counts.erase(old);
  }
}

// A parsed line, or its damage.
struct Line {
  json content;
  std::optional<InvalidLine> damage = {};
};

Line read_line(const std::string& text, const schemas::Validator& validator) {
  Line line{.content = json::parse(text, nullptr, false)};
  if (line.content.is_discarded()) {
    line.damage = {.message = "the line is not valid JSON"};
  } else if (const auto diagnostics = validator.diagnostics(line.content); !diagnostics.empty()) {
    const schemas::SchemaError& first = diagnostics.front();
    line.damage = {.json_pointer = first.pointer,
                   .message = fmt::format("found {}, expected {}", first.found, first.expected)};
  }
  return line;
}

// Parses lines on all cores, some hundred at a time.
class LineReader {
 public:
  explicit LineReader(std::istream& stream) : stream_(stream) {}

  // The next lines, in order; none at the end. A line without a newline is dropped, see truncated().
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
    for_each_index_in_parallel(parts, static_cast<unsigned>(parts), [&](std::size_t part) {
      for (std::size_t i = part; i < texts.size(); i += parts)
        lines[i] = read_line(texts[i], validators_[part]);
    });
    return lines;
  }

  // Whether the last line was incomplete.
  [[nodiscard]] bool truncated() const { return truncated_; }

 private:
  // Number of threads for this many lines: creating a validator takes as long as parsing some hundred lines.
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

// Collects the lines in order; a line that contradicts earlier lines is damaged.
class Collector {
 public:
  void take(int number, Line read) {
    if (read.damage) return damaged(number, std::move(read.damage->json_pointer), std::move(read.damage->message));
    json line = std::move(read.content);
    rename_old_passes(line);
    const std::string kind = line.at("record");
    if ((kind == "run_start") != run_.start.is_null()) {
      return damaged(number, "",
                     fmt::format("the first line, and only the first line, must be run_start; got {}", kind));
    }
    if (run_.end) return damaged(number, "", "a line follows the run_end record");
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

  [[nodiscard]] const std::vector<InvalidLine>& damage() const { return run_.damaged_lines; }
  [[nodiscard]] bool has_start() const { return !run_.start.is_null(); }

  Result<RecordLines> finish(bool truncated) {
    if (run_.start.is_null()) return Error{"the file is empty or truncated: missing run_start record"};
    for (const auto& [name, position] : position_) {
      if (run_.cases[position].is_null()) run_.cases[position] = missing_line(name);
    }
    run_.is_truncated = truncated;
    return std::move(run_);
  }

 private:
  void damaged(int number, std::string pointer, std::string message) {
    run_.damaged_lines.push_back(
        {.line_number = number, .json_pointer = std::move(pointer), .message = std::move(message)});
  }

  void take_case(int number, json line) {
    const std::string name = line.at("case");
    const auto found = position_.find(name);
    if (found == position_.end()) return damaged(number, "/case", fmt::format("case {} is not in the plan", name));
    json& slot = run_.cases[found->second];
    if (!slot.is_null()) return damaged(number, "/case", fmt::format("case {} has two records", name));
    slot = std::move(line);
  }

  RecordLines run_;
  std::unordered_map<std::string, std::size_t> position_;  // in the plan, by name
};

}  // namespace

std::string damage_text(const InvalidLine& line) {
  return line.json_pointer.empty() ? line.message : fmt::format("{}: {}", line.json_pointer, line.message);
}

Result<RecordLines> read_record_lines(const std::filesystem::path& dir, Damage damage) {
  const std::filesystem::path file = dir / kRecordsFileName;
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
  Result<RecordLines> run = collector.finish(reader.truncated());
  if (!run.ok()) return Error{run.error().message, file.string()};
  return run;
}

}  // namespace assay::harness
