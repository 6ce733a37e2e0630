#include "reports/model/compilers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "harness/records/mode_name.hpp"
#include "reports/model/text_table.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// How a case ends, for the columns.
std::int64_t BuildCaseCounts::*count_of(std::string_view outcome) {
  if (outcome == "pass") return &BuildCaseCounts::passed;
  if (outcome == "fail") return &BuildCaseCounts::incorrect;
  if (outcome == "crashed" || outcome == "timed_out" || outcome == "memory_fault") return &BuildCaseCounts::crashed;
  if (outcome == "build_failed" || outcome == "launch_failed") return &BuildCaseCounts::rejected;
  return &BuildCaseCounts::undecided;
}

struct CountWord {
  std::int64_t BuildCaseCounts::*member;
  const char* word;
};

constexpr std::array<CountWord, 5> kCountWords{{{&BuildCaseCounts::incorrect, "wrong"},
                                                {&BuildCaseCounts::crashed, "crashed"},
                                                {&BuildCaseCounts::rejected, "rejected"},
                                                {&BuildCaseCounts::undecided, "undecided"},
                                                {&BuildCaseCounts::passed_with_more_instructions, "longer"}}};

// The executed instructions of the first launch; empty if they were not counted.
std::optional<double> instructions_of(const json& record) {
  if (!record.contains("profiles") || record.at("profiles").empty()) return std::nullopt;
  const json& measures = record.at("profiles").front().at("measures");
  if (!measures.contains("thread_instructions")) return std::nullopt;
  return measures.at("thread_instructions").get<double>();
}

struct CaseParts {
  std::string name;  // without the mode
  std::string device;
  std::string family;
  std::string mode;
};

CaseParts parts_of(const std::string& name) {
  const harness::CaseRecord record = harness::record_of(name);
  const std::size_t end = record.mode.empty() ? name.size() : name.size() - record.mode.size() - 1;
  return {.name = name.substr(0, end), .device = record.device, .family = record.family, .mode = record.mode};
}

// The cell of a case in its row, and its record, if it has one.
struct PlacedCase {
  std::size_t row = 0;
  std::size_t column = 0;
  const json* record = nullptr;
};

std::string cell_text(const BuildCaseCounts& counts) {
  if (counts.total() == 0) return "";
  std::string text = fmt::format("{}/{}", counts.passed, counts.total());
  for (const CountWord& row : kCountWords)
    if (counts.*row.member > 0) text += fmt::format(", {} {}", counts.*row.member, row.word);
  return text;
}

json counts_json(const BuildCaseCounts& counts) {
  return {{"passed", counts.passed},       {"wrong", counts.incorrect},
          {"crashed", counts.crashed},     {"rejected", counts.rejected},
          {"undecided", counts.undecided}, {"longer", counts.passed_with_more_instructions},
          {"build_ms", counts.build_ms},   {"instructions", counts.instructions}};
}

}  // namespace

std::string title_of(const BuildColumn& column) {
  const std::string build = harness::describe_build(harness::build_name_of_mode(column.mode));
  std::string mode = column.mode.substr(0, column.mode.find(harness::kModeBuildSeparator));
  if (mode.empty() || mode == "strict") return build.empty() ? column.device : build;
  const bool is_level = mode.size() == 2 && mode[0] == 'O';
  return fmt::format("{} {}{}", build.empty() ? column.device : build, is_level ? "-" : "", mode);
}

BuildMatrix build_matrix(const Run& run) {
  BuildMatrix matrix;
  std::map<std::string, const json*> records;
  for (const json& record : run.cases)
    records.emplace(record.at("case"), &record);
  std::map<std::pair<std::string, std::string>, std::size_t> columns;
  std::map<std::string, std::size_t> rows;
  std::vector<std::string> names;
  std::map<std::string, std::vector<PlacedCase>> cases;
  for (const json& planned : run.start.at("plan")) {
    const std::string name = planned;
    const CaseParts parts = parts_of(name);
    if (harness::build_name_of_mode(parts.mode).empty()) continue;
    const auto column = columns.emplace(std::pair(parts.device, parts.mode), columns.size());
    if (column.second) matrix.columns.push_back({.device = parts.device, .mode = parts.mode});
    const auto row = rows.emplace(parts.family, rows.size());
    if (row.second) matrix.rows.push_back({.family = parts.family, .cells = {}});
    const auto record = records.find(name);
    const auto placed = cases.try_emplace(parts.name);
    if (placed.second) names.push_back(parts.name);
    placed.first->second.push_back({.row = row.first->second,
                                    .column = column.first->second,
                                    .record = record == records.end() ? nullptr : record->second});
  }
  if (matrix.columns.empty()) return matrix;
  matrix.rows.push_back({.family = "all", .cells = {}});
  for (BuildRow& row : matrix.rows)
    row.cells.resize(matrix.columns.size());
  for (const std::string& name : names) {
    std::optional<double> fewest;
    for (const PlacedCase& placed : cases.at(name)) {
      if (placed.record == nullptr ||
          count_of(placed.record->at("outcome").get<std::string>()) != &BuildCaseCounts::passed)
        continue;
      if (const auto count = instructions_of(*placed.record)) fewest = std::min(fewest.value_or(*count), *count);
    }
    BuildDifference difference{.name = name, .outcomes_by_column = std::vector<std::string>(matrix.columns.size())};
    std::set<std::string> endings;
    for (const PlacedCase& placed : cases.at(name)) {
      const std::string outcome = placed.record == nullptr ? "not_run" : placed.record->at("outcome");
      std::string& ending = difference.outcomes_by_column[placed.column];
      ending = placed.record == nullptr ? outcome : outcome_text(*placed.record);
      if (const auto member = count_of(outcome); member == &BuildCaseCounts::passed) ending = "pass";
      else if (difference.message.empty() && placed.record != nullptr)
        difference.message = placed.record->at("message");
      if (placed.record != nullptr && placed.record->contains("blame") && difference.culprit.empty())
        difference.culprit = placed.record->at("blame").at("culprit");
      endings.insert(ending);
      const std::optional<double> count = placed.record == nullptr ? std::nullopt : instructions_of(*placed.record);
      for (const std::size_t row : {placed.row, matrix.rows.size() - 1}) {
        BuildCaseCounts& counts = matrix.rows[row].cells[placed.column];
        ++(counts.*count_of(outcome));
        if (placed.record != nullptr) counts.build_ms += placed.record->at("time_ms").at("build").get<double>();
        if (count) counts.instructions += *count;
        if (count && fewest && ending == "pass" && *count > *fewest * kInstructionExcessRatio)
          ++counts.passed_with_more_instructions;
      }
    }
    if (endings.size() > 1) matrix.differences.push_back(std::move(difference));
  }
  return matrix;
}

std::vector<std::vector<std::string>> total_rows(const BuildMatrix& matrix) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
    const BuildCaseCounts& counts = matrix.rows.back().cells[i];
    rows.push_back({title_of(matrix.columns[i]), fmt::format("{}/{}", counts.passed, counts.total())});
    for (const CountWord& row : kCountWords)
      rows.back().push_back(counts.*row.member == 0 ? "" : fmt::format("{}", counts.*row.member));
    rows.back().push_back(counts.instructions == 0 ? "" : fmt::format("{:.0f}", counts.instructions));
    rows.back().push_back(fmt::format("{:.1f}", counts.build_ms / 1e3));
  }
  return rows;
}

std::vector<std::string> total_head() {
  return {"build", "pass", "wrong", "crashed", "rejected", "undecided", "longer", "instructions", "build s"};
}

std::string outcomes_text(const BuildMatrix& matrix, const BuildDifference& difference) {
  std::string text;
  std::int64_t passing = 0;
  for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
    if (difference.outcomes_by_column[i] == "pass") ++passing;
    else if (!difference.outcomes_by_column[i].empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", title_of(matrix.columns[i]),
                          difference.outcomes_by_column[i]);
  }
  return text + fmt::format("; {} pass", passing);
}

std::string build_table(const BuildMatrix& matrix, bool color) {
  if (matrix.columns.empty()) return "";
  TextTable table;
  table.add_header(total_head());
  for (std::vector<std::string>& row : total_rows(matrix))
    table.add(std::move(row));
  std::string text = table.text(color);
  text += fmt::format(
      "longer: passing cases that execute more than {:.0f} % more instructions than in the build with the fewest\n",
      100 * (kInstructionExcessRatio - 1));
  if (matrix.differences.empty()) return text + "\nEvery case has the same result in all builds.\n";
  text +=
      fmt::format("\n{} with different results:\n", cases_text(static_cast<std::int64_t>(matrix.differences.size())));
  for (const BuildDifference& difference : matrix.differences) {
    text += fmt::format("  {}\n    {}\n", difference.name, outcomes_text(matrix, difference));
    if (!difference.culprit.empty()) text += fmt::format("    blamed on: {}\n", difference.culprit);
  }
  return text;
}

json build_json(const BuildMatrix& matrix) {
  json columns = json::array();
  for (const BuildColumn& column : matrix.columns)
    columns.push_back({{"device", column.device}, {"mode", column.mode}, {"title", title_of(column)}});
  json rows = json::array();
  for (const BuildRow& row : matrix.rows) {
    json cells = json::array();
    for (const BuildCaseCounts& counts : row.cells)
      cells.push_back(counts_json(counts));
    rows.push_back({{"family", row.family}, {"cells", cells}});
  }
  json differences = json::array();
  for (const BuildDifference& difference : matrix.differences) {
    differences.push_back({{"case", difference.name},
                           {"outcomes", difference.outcomes_by_column},
                           {"blame", difference.culprit},
                           {"message", difference.message}});
  }
  return {{"columns", columns}, {"rows", rows}, {"differences", differences}};
}

json build_view(const BuildMatrix& matrix) {
  if (matrix.columns.empty()) return nullptr;
  json columns = json::array();
  for (const BuildColumn& column : matrix.columns)
    columns.push_back({{"title", title_of(column)}});
  json rows = json::array();
  for (const BuildRow& row : matrix.rows) {
    json cells = json::array();
    for (const BuildCaseCounts& counts : row.cells) {
      const bool bad = counts.incorrect + counts.crashed + counts.rejected > 0;
      cells.push_back({{"text", cell_text(counts)},
                       {"tone", counts.total() == 0 ? "none"
                                : bad               ? "unexpected"
                                                    : "passed"}});
    }
    rows.push_back({{"family", row.family}, {"cells", cells}});
  }
  json differences = json::array();
  for (std::size_t i = 0; i < std::min(matrix.differences.size(), kMaxRowsPerPage); ++i) {
    const BuildDifference& difference = matrix.differences[i];
    differences.push_back({{"name", difference.name},
                           {"href", filter_link(difference.name)},
                           {"outcomes", outcomes_text(matrix, difference)},
                           {"blame", difference.culprit}});
  }
  return {{"columns", columns},
          {"rows", rows},
          {"differs", differences.empty() ? json() : json({{"rows", differences}})},
          {"share", fmt::format("{:.0f}", 100 * (kInstructionExcessRatio - 1))}};
}

}  // namespace assay::reports
