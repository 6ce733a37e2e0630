// The grid of tallies by family, device and pass, with sums, for the page and the terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.hpp"

namespace assay::reports {

/// A column: the cases of one device in one pass.
struct GridColumn {
  std::string device;               ///< name of the device
  std::string pass;                 ///< "forward" or "backward"
  bool is_first_of_device = false;  ///< whether it is the leftmost column of its device
};

/// A row: the cases of one family.
struct GridRow {
  std::string family;             ///< family of the cases; "all" in the row of totals
  std::vector<CaseCounts> cells;  ///< counts for each column; all 0 where no case was planned
  CaseCounts total;               ///< sum of the cells
};

/// The number of cases by family, device and pass.
struct CaseCountGrid {
  std::vector<GridColumn> columns;  ///< those with a planned case, by device (cpu, cuda, ptx) and pass (forward first)
  std::vector<GridRow> rows;        ///< one for each family, in the order of the plan
  GridRow totals_row;               ///< sums of the columns
};

CaseCountGrid grid_of(const RunSummary& summary);

}  // namespace assay::reports
