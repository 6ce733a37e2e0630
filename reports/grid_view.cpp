#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/page_view.hpp"
#include "reports/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

struct Column {
  std::string device;
  std::string pass;
  bool first_of_device = false;
};

std::vector<Column> columns_of(const Summary& summary) {
  std::vector<Column> columns;
  for (const char* device : {"cpu", "cuda", "ptx"}) {
    bool first = true;
    for (const char* pass : {"forward", "backward"}) {
      const bool planned = std::any_of(summary.grid.begin(), summary.grid.end(), [&](const GridCell& cell) {
        return cell.device == device && cell.pass == pass;
      });
      if (planned) columns.push_back({.device = device, .pass = pass, .first_of_device = std::exchange(first, false)});
    }
  }
  return columns;
}

std::vector<std::string> families_of(const Summary& summary) {
  std::vector<std::string> families;
  for (const GridCell& cell : summary.grid) {
    if (std::find(families.begin(), families.end(), cell.family) == families.end()) families.push_back(cell.family);
  }
  return families;
}

// What stands below the count, where there is something to say.
std::string note_of(const Tally& tally) {
  std::string note;
  const std::array<std::pair<std::int64_t, const char*>, 4> parts{{{tally.unexpected, "unexpected"},
                                                                   {tally.inconclusive, "inconclusive"},
                                                                   {tally.not_run, "not run"},
                                                                   {tally.unsupported, "unsupported"}}};
  for (const auto& [count, word] : parts) {
    if (count > 0) note += fmt::format("{}{} {}", note.empty() ? "" : ", ", count, word);
  }
  return note;
}

json cell_view(const Tally& tally, const std::string& query, bool edge) {
  if (tally.total() == 0) return {{"tone", "none"}, {"edge", edge ? "edge" : ""}, {"href", ""}};
  const std::string note = note_of(tally);
  return {{"tone", to_text(tally.tone())},
          {"edge", edge ? "edge" : ""},
          {"href", filter_link(query)},
          {"passed", count_text(tally.passed)},
          {"total", count_text(tally.total())},
          {"note", note},
          {"title", fmt::format("{}: {} of {} pass{}{}", query, tally.passed, tally.total(), note.empty() ? "" : "; ", note)}};
}

// The sum of the cells that `wanted` admits.
template <class Wanted>
Tally sum_of(const Summary& summary, Wanted wanted) {
  Tally sum;
  for (const GridCell& cell : summary.grid) {
    if (wanted(cell)) sum.add(cell.tally);
  }
  return sum;
}

json row_view(const Summary& summary, const std::vector<Column>& columns, const std::string& family) {
  json cells = json::array();
  for (const Column& column : columns) {
    const Tally tally = sum_of(summary, [&](const GridCell& cell) {
      return cell.family == family && cell.device == column.device && cell.pass == column.pass;
    });
    const std::string query = fmt::format("family:{} device:{} pass:{}", family, column.device, column.pass);
    cells.push_back(cell_view(tally, query, column.first_of_device));
  }
  const std::string query = fmt::format("family:{}", family);
  const Tally all = sum_of(summary, [&](const GridCell& cell) { return cell.family == family; });
  cells.push_back(cell_view(all, query, true));
  return {{"family", family}, {"href", filter_link(query)}, {"cells", cells}};
}

json totals_view(const Summary& summary, const std::vector<Column>& columns) {
  json cells = json::array();
  for (const Column& column : columns) {
    const Tally tally = sum_of(summary, [&](const GridCell& cell) {
      return cell.device == column.device && cell.pass == column.pass;
    });
    cells.push_back(
        cell_view(tally, fmt::format("device:{} pass:{}", column.device, column.pass), column.first_of_device));
  }
  cells.push_back(cell_view(sum_of(summary, [](const GridCell&) { return true; }), "", true));
  return cells;
}

}  // namespace

json grid_view(const Summary& summary) {
  const std::vector<Column> columns = columns_of(summary);
  json devices = json::array();
  json passes = json::array();
  for (const Column& column : columns) {
    if (column.first_of_device) devices.push_back({{"name", column.device}, {"span", 0}});
    devices.back()["span"] = devices.back().at("span").get<int>() + 1;
    passes.push_back({{"pass", column.pass}, {"edge", column.first_of_device ? "edge" : ""}});
  }
  json rows = json::array();
  for (const std::string& family : families_of(summary)) rows.push_back(row_view(summary, columns, family));
  return {{"grid_devices", devices},
          {"grid_columns", passes},
          {"grid_rows", rows},
          {"grid_totals", totals_view(summary, columns)}};
}

}  // namespace assay::reports
