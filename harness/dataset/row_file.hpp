// The lines of a file that others may have written, one after another, within limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/dataset/json_scan.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// A line: its text, or what is wrong with its form.
struct ScannedLine {
  std::uint64_t number = 0;  ///< from 1
  std::string text;
  std::optional<ScanFault> fault;
  std::string start;  ///< of a faulty line: its beginning, to find an id in
};

/// Hands each line on. Fails after the last whole one where the file cannot be read to its end.
Result<void> scan_lines(const std::filesystem::path& path, const std::function<void(ScannedLine)>& take);

}  // namespace assay::dataset
