// The grid of tallies by family, device and pass, with sums, for the page and the terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.hpp"

namespace assay::reports {

struct GridColumn {
  std::string device;
  std::string pass;
  bool is_first_of_device = false;
};

struct GridRow {
  std::string family;             // "all" in the last row
  std::vector<CaseCounts> cells;  // one for each column; a total of 0 if nothing was planned
  CaseCounts total;               // their sum
};

struct Grid {
  std::vector<GridColumn> columns;  // cpu, cuda, ptx; forward, backward; only those with a planned case
  std::vector<GridRow> rows;        // in the order of the plan
  GridRow totals;
};

Grid grid_of(const Summary& summary);

}  // namespace assay::reports
