// Reads the lines of an untrusted file one after another, within limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/dataset/json_scan.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// A line: its text, or the fault in its syntax.
struct ScannedLine {
  std::uint64_t line_number = 0;              ///< line number, from 1
  std::string text;                           ///< the line without its newline; empty if it is faulty
  std::optional<JsonScanError> syntax_error;  ///< the fault in its syntax, if any
  std::string faulty_line_start;              ///< beginning of a faulty line, from which the id may be read
};

/// Calls `take` with each line. Fails after the last complete line if the file cannot be read to its end.
Result<void> scan_lines(const std::filesystem::path& path, const std::function<void(ScannedLine)>& take);

}  // namespace assay::dataset
