#include "reports/formats/markdown.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/formats/text.hpp"
#include "reports/model/compilers.hpp"
#include "reports/model/grid.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

std::string grid_text(const RunSummary& summary) {
  const CaseCountGrid grid = grid_of(summary);
  std::string header = "| family |";
  std::string rule = "|---|";
  for (const GridColumn& column : grid.columns) {
    header += fmt::format(" {} {} |", markdown_text(column.device), markdown_text(column.pass));
    rule += "--:|";
  }
  std::string text = header + "\n" + rule + "\n";
  std::vector<GridRow> rows = grid.rows;
  rows.push_back(grid.totals_row);
  for (const GridRow& row : rows) {
    text += fmt::format("| {} |", markdown_text(row.family));
    for (const CaseCounts& tally : row.cells)
      text += tally.total() == 0 ? " |" : fmt::format(" {}/{} |", tally.passed, tally.total());
    text += "\n";
  }
  return text;
}

// The builds side by side; empty if the run has only one.
std::string builds_text(const BuildMatrix& matrix) {
  if (matrix.columns.empty()) return "";
  std::string text = "\n## Compilers\n\n|";
  std::string rule = "|";
  for (const std::string& title : total_head()) {
    text += fmt::format(" {} |", title);
    rule += title == total_head().front() ? "---|" : "--:|";
  }
  text += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : total_rows(matrix)) {
    text += "|";
    for (const std::string& cell : row)
      text += cell.empty() ? " |" : fmt::format(" {} |", markdown_text(cell));
    text += "\n";
  }
  if (!matrix.differences.empty()) text += "\n";
  for (const BuildDifference& difference : matrix.differences) {
    text +=
        fmt::format("- {}: {}{}\n", markdown_text(difference.name), markdown_text(outcomes_text(matrix, difference)),
                    difference.culprit.empty() ? "" : ", blamed on: " + markdown_text(difference.culprit));
  }
  return text;
}

std::string case_text(const json& record) {
  std::string line = fmt::format("- **{}** {}", markdown_text(outcome_text(record)),
                                 markdown_text(record.at("case").get<std::string>()));
  const std::string message = message_text(record);
  if (!message.empty()) line += "\\\n  " + markdown_text(message);
  const std::string reproduce = record.at("reproduce");
  if (!reproduce.empty()) line += "\\\n  " + markdown_text(reproduce);
  return line + "\n";
}

}  // namespace

std::string summary_markdown(const Run& run, const RunSummary& summary, const RunChanges* changes) {
  const CaseTotals& of = summary.case_totals;
  std::string text = fmt::format("# Assay: {}\n\n", markdown_text(summary.verdict.headline));
  if (changes != nullptr)
    text += fmt::format("Since {}: {}.\n\n", markdown_text(changes->baseline_label), changes_text(*changes));
  const std::string tail =
      builds_text(build_matrix(run)) +
      fmt::format("\n{}\n{} {} planned, {} run, {} supported, {} compared; {} values compared{}. Seed {}, commit {}.\n",
                  grid_text(summary), of.planned, of.planned == 1 ? "case" : "cases", of.run, of.supported, of.compared,
                  of.values_compared,
                  of.cached_verdict_count > 0
                      ? fmt::format("; {} judged by an earlier run of the same program", of.cached_verdict_count)
                      : "",
                  markdown_text(run.start.at("seed").get<std::string>()),
                  markdown_text(run.start.at("environment").at("commit").get<std::string>()));
  constexpr std::size_t kSpare = 200;
  std::size_t left_out = 0;
  for (const FailureGroup& group : summary.failure_groups) {
    const std::string title = fmt::format("\n## {}: {}\n\n", markdown_text(group.heading),
                                          cases_text(static_cast<std::int64_t>(group.cases.size())));
    bool titled = false;
    for (const std::size_t i : group.cases) {
      const std::string line = (titled ? "" : title) + case_text(run.cases[i]);
      if (text.size() + line.size() + tail.size() + kSpare > kMaxMarkdownBytes) {
        ++left_out;
        continue;
      }
      text += line;
      titled = true;
    }
  }
  if (left_out > 0)
    text += fmt::format("\n{} more omitted to limit the size; see the report.\n",
                        cases_text(static_cast<std::int64_t>(left_out)));
  return text + tail;
}

}  // namespace assay::reports
