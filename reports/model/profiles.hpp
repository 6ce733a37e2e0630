// Execution profiles of launches, recorded by a device: a table for the terminal, and a view for the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

/// A column of the table of profiles.
struct ProfileColumn {
  std::string_view label;    ///< heading of the column: "lanes %"
  std::string_view meaning;  ///< explanation below the table
};

/// The columns after the case and the target.
std::vector<ProfileColumn> profile_columns();

/// One recorded profile.
struct ProfileRow {
  std::string name;          ///< name of the case
  std::string build_target;  ///< build target of the kernel
  std::vector<std::string>
      cells;  ///< text for each column; empty if not applicable, such as contention without atomics
};
std::vector<ProfileRow> profile_rows(const Run& run);

/// All rows, followed by the meaning of the columns; a single line if there are no profiles.
std::string profile_table(const Run& run, bool color);

/// For the page: columns and at most kMaxRowsPerPage rows; null if there are none.
nlohmann::json profiles_view(const Run& run);

}  // namespace assay::reports
