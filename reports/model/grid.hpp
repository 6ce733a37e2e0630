// The grid of family by device and pass, with its sums: what the page and the terminal both show.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.hpp"

namespace assay::reports {

struct GridColumn {
  std::string device;
  std::string pass;
  bool first_of_device = false;
};

struct GridRow {
  std::string family;        // "all" in the last row
  std::vector<Tally> cells;  // one for each column; a total of 0 where nothing was planned
  Tally all;                 // their sum
};

struct Grid {
  std::vector<GridColumn> columns;  // cpu, cuda, ptx; forward, backward; only those with a planned case
  std::vector<GridRow> rows;        // in the order of the plan
  GridRow totals;
};

Grid grid_of(const Summary& summary);

}  // namespace assay::reports
