#include "reports/model/grid.hpp"

#include <algorithm>
#include <utility>

#include "backends/device/registry.hpp"

namespace assay::reports {
namespace {

std::vector<GridColumn> columns_of(const RunSummary& summary) {
  std::vector<GridColumn> columns;
  for (const backends::DeviceDescriptor& row : backends::all_devices()) {
    const std::string device(row.name);
    bool first = true;
    for (const char* pass : {"forward", "backward"}) {
      const bool planned = std::any_of(summary.grid.begin(), summary.grid.end(), [&](const GridCell& cell) {
        return cell.device == device && cell.pass == pass;
      });
      if (planned)
        columns.push_back({.device = device, .pass = pass, .is_first_of_device = std::exchange(first, false)});
    }
  }
  return columns;
}

GridRow& row_of(CaseCountGrid& grid, const std::string& family) {
  const auto found =
      std::find_if(grid.rows.begin(), grid.rows.end(), [&](const GridRow& row) { return row.family == family; });
  if (found != grid.rows.end()) return *found;
  return grid.rows.emplace_back(GridRow{.family = family, .cells = std::vector<CaseCounts>(grid.columns.size())});
}

}  // namespace

CaseCountGrid grid_of(const RunSummary& summary) {
  CaseCountGrid grid{.columns = columns_of(summary)};
  grid.totals_row = {.family = "all", .cells = std::vector<CaseCounts>(grid.columns.size())};
  for (const GridCell& cell : summary.grid) {
    const auto column = std::find_if(grid.columns.begin(), grid.columns.end(), [&](const GridColumn& other) {
      return other.device == cell.device && other.pass == cell.pass;
    });
    const auto position = static_cast<std::size_t>(column - grid.columns.begin());
    for (GridRow* row : {&row_of(grid, cell.family), &grid.totals_row}) {
      row->cells.at(position).add(cell.counts);
      row->total.add(cell.counts);
    }
  }
  return grid;
}

}  // namespace assay::reports
