// Reads rows one after another: the lines of an untrusted file, within limits, or those of a dataset.
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

/// Receives a row's line, its file, and the number of the line from 1. Returns whether to go on.
using TakeRow =
    std::function<Result<bool>(const std::string& line, const std::filesystem::path& file, std::uint64_t number)>;

/// Calls `take` with each row of a dataset or file of rows until it returns false. For files written by this program.
Result<void> for_each_row(const std::filesystem::path& path, const TakeRow& take);

/// Fails if `output` is a folder to which rows read from `dataset` must not be written: the folder of the dataset or a
/// folder inside of it, or the folder of a single file of rows. Neither path is changed.
Result<void> check_output_folder(const std::filesystem::path& dataset, const std::filesystem::path& output);

/// The split in the name of a data file, "train" for data/train-00000-of-00003.jsonl.gz.
std::string split_of(const std::filesystem::path& file);

}  // namespace assay::dataset
