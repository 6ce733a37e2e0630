// The grid of tallies by family, device and pass, with sums, for the page and the terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.hpp"

namespace assay::reports {

struct GridColumn {
  std::string device;
  std::string pass;
  bool is_first_of_device = false;  ///< whether it is the leftmost column of its device
};

struct GridRow {
  std::string family;             ///< family of the cases; "all" in the row of totals
  std::vector<CaseCounts> cells;  ///< counts for each column; a total of 0 if nothing was planned
  CaseCounts total;               ///< sum of the cells
};

struct CaseCountGrid {
  std::vector<GridColumn> columns;  ///< cpu, cuda, ptx; forward, backward; only those with a planned case
  std::vector<GridRow> rows;        ///< one for each family, in the order of the plan
  GridRow totals_row;               ///< sums of the columns
};

CaseCountGrid grid_of(const RunSummary& summary);

}  // namespace assay::reports
