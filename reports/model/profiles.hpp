// What launches executed, as a device that observes it recorded: a table for the terminal, and its view for the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

struct ProfileColumn {
  std::string_view label;  // "lanes %"
  std::string_view about;  // what the figure is, in half a sentence
};

// What the cells of a row are, behind the case and the target.
std::vector<ProfileColumn> profile_columns();

// One recorded profile.
struct ProfileRow {
  std::string name;  // of the case
  std::string target;
  std::vector<std::string> cells;  // by column; empty where the figure has no meaning, as contention without atomics
};
std::vector<ProfileRow> profile_rows(const Run& run);

// All rows, and below them what the columns mean; one line that says so where nothing was observed.
std::string profile_table(const Run& run, bool color);

// For the page: columns and rows, of which no more than a page can hold; null where there are none.
nlohmann::json profiles_view(const Run& run);

}  // namespace assay::reports
