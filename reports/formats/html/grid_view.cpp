#include <array>

#include <fmt/format.h>

#include "reports/formats/html/page_view.hpp"
#include "reports/model/grid.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// The note below the count; may be empty.
std::string note_of(const CaseCounts& tally) {
  std::string note;
  const std::array<std::pair<std::int64_t, const char*>, 5> parts{{{tally.unexpected, "unexpected"},
                                                                   {tally.inconclusive, "inconclusive"},
                                                                   {tally.not_run, "not run"},
                                                                   {tally.expected_failures, "xfail"},
                                                                   {tally.unsupported, "unsupported"}}};
  for (const auto& [count, word] : parts) {
    if (count > 0) note += fmt::format("{}{} {}", note.empty() ? "" : ", ", count, word);
  }
  return note;
}

// One cell with a link to the list filtered by `query`; `edge` draws a line to its left.
json cell_view(const CaseCounts& tally, const std::string& query, bool edge) {
  json view = {{"tone", "none"}, {"edge", edge ? "edge" : ""}, {"href", ""}};
  if (tally.total() == 0) return view;
  const std::string note = note_of(tally);
  const std::string tip = fmt::format("{} of {} pass{}{}", tally.passed, tally.total(), note.empty() ? "" : "; ", note);
  view.update({{"tone", to_text(tally.tone())},
               {"href", filter_link(query)},
               {"passed", count_text(tally.passed)},
               {"total", count_text(tally.total())},
               {"note", note},
               {"title", query.empty() ? tip : fmt::format("{}: {}", query, tip)}});
  return view;
}

// The cells of a row, with the sum last; `prefix` is the part of the query for the row.
json cells_view(const CaseCountGrid& grid, const GridRow& row, const std::string& prefix) {
  json cells = json::array();
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    const GridColumn& column = grid.columns[i];
    const std::string query =
        fmt::format("{}{}device:{} pass:{}", prefix, prefix.empty() ? "" : " ", column.device, column.pass);
    cells.push_back(cell_view(row.cells[i], query, column.is_first_of_device));
  }
  cells.push_back(cell_view(row.total, prefix, true));
  return cells;
}

}  // namespace

json grid_view(const RunSummary& summary) {
  const CaseCountGrid grid = grid_of(summary);
  json devices = json::array();
  json passes = json::array();
  for (const GridColumn& column : grid.columns) {
    if (column.is_first_of_device) devices.push_back({{"name", column.device}, {"span", 0}});
    devices.back()["span"] = devices.back().at("span").get<int>() + 1;
    passes.push_back({{"pass", column.pass}, {"edge", column.is_first_of_device ? "edge" : ""}});
  }
  json rows = json::array();
  for (const GridRow& row : grid.rows) {
    const std::string query = "family:" + row.family;
    rows.push_back({{"family", row.family}, {"href", filter_link(query)}, {"cells", cells_view(grid, row, query)}});
  }
  return {{"grid_devices", devices},
          {"grid_columns", passes},
          {"grid_rows", rows},
          {"grid_totals", cells_view(grid, grid.totals_row, "")}};
}

}  // namespace assay::reports
