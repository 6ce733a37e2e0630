// Reads the rows of a foreign dataset: files of JSON lines, or folders of .json files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/dataset/foreign/belonging.hpp"
#include "harness/dataset/foreign/mapping.hpp"
#include "support/result.hpp"

namespace assay::foreign {

/// One row as the dataset contains it, before it is judged.
struct ForeignRow {
  std::uint64_t row_index = 0;             ///< position in the dataset, from 0
  std::string file;                        ///< path of its file, relative to the dataset
  std::uint64_t line = 0;                  ///< line in the file, from 1
  std::string id;                          ///< identifies the row; "FILE:LINE" if the mapping or the row has no id
  std::string python;                      ///< the Python source
  std::string cpp_source;                  ///< generated C++; empty if the mapping does not name it
  std::string cuda_source;                 ///< generated CUDA C++; empty if the mapping does not name it
  std::string kernel;                      ///< name of the kernel; empty: the source defines one kernel
  std::string warp_version;                ///< version of Warp, if the row states one
  nlohmann::ordered_json row_json;         ///< all members of the row; null if the row is not valid JSON
  std::optional<RowDamageFinding> damage;  ///< why the row cannot be used: invalid JSON, or a field that is missing
};

/// An input file and its content, which a resumed run must find unchanged.
struct DatasetInputFile {
  std::filesystem::path path;  ///< path of the file
  std::string name;            ///< path relative to the dataset
  std::string sha256;          ///< hash of the content
};

/// The files of a dataset in the order of their names: `path` itself, or all files in it and its subfolders that end in
/// .jsonl, .jsonl.gz, .jsonl.zst or .json. Fails if there is none or one cannot be read.
Result<std::vector<DatasetInputFile>> input_files(const std::filesystem::path& path);

/// Calls `take` with each row. A .json file contains one row or an array of rows; other files contain one row per line.
/// Fails if a file cannot be read to its end.
Result<void> read_rows(const std::vector<DatasetInputFile>& files, const FieldMapping& mapping,
                       const std::function<Result<void>(ForeignRow)>& take);

/// The number of rows of a dataset.
Result<std::uint64_t> count_rows(const std::filesystem::path& dataset, const FieldMapping& mapping);

}  // namespace assay::foreign
