// Tables as comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay {

/// One row of a table.
struct CsvRow {
  int line = 0;                     ///< line on which the row begins, counted from 1
  std::vector<std::string> fields;  ///< contents of the fields, without the enclosing quotes
};

/// The field, quoted if necessary.
std::string csv_field(std::string_view text);

/// The rows of a table, including its head; empty lines are skipped. Lines end in CR LF or LF, and a quoted field may
/// contain either. Fails on an unclosed quote and on text after a quoted field; the error location is the line.
Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace assay
