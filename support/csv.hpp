// Tables as comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay {

struct CsvRow {
  int line = 0;  ///< on which the row begins, from 1
  std::vector<std::string> fields;
};

/// A field, quoted where it must be.
std::string csv_field(std::string_view text);

/// The rows of a table, its head among them; empty lines are no rows. Lines end in CR LF or LF, and a quoted field may
/// hold either. Fails on a quote that is not closed, and on text beside a quoted field, with the line as the place.
Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace assay
