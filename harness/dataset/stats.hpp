// Statistics of a dataset: stats.json.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/row.hpp"
#include "harness/dataset/row_memory.hpp"
#include "ir/module.hpp"

namespace assay::dataset {

/// Statistics of one row; texts and lists are stored in a RowArena.
struct RowStatistics {
  std::string_view family;  ///< family of the row
  std::array<std::uint32_t, std::size(kRowTextFields)>
      lengths{};  ///< bytes of each text of kRowTextFields; 0 where null
  /// The names of the program's operations, each with its number of occurrences.
  std::span<const std::pair<std::string_view, std::uint32_t>> operation_counts;
  /// The cases with their verdicts: "cpu/forward/strict" and "pass".
  std::span<const std::pair<std::string_view, std::string_view>> verdict_by_case;
  double rho_max = 0;  ///< greatest rho over all evidence of the row
};

/// Computes the statistics of a row and its program; texts and lists are stored in `memory`.
RowStatistics row_statistics(const DatasetRow& row, const ir::Module& module, RowArena& memory);

/// The lengths of one text over all rows.
struct TextLengthStatistics {
  std::uint64_t rows = 0;          ///< number of rows that have this text
  std::uint64_t min_length = 0;    ///< length of the shortest text in bytes
  std::uint64_t max_length = 0;    ///< length of the longest text in bytes
  std::uint64_t total_length = 0;  ///< sum of the lengths, in bytes
};

/// Wall time of each stage in seconds, summed over threads, and wall time of the whole run.
struct Timing {
  double wall_seconds = 0;                ///< wall time of the whole run
  double preparation_seconds = 0;         ///< generating, parsing, differentiating and printing
  double write_seconds = 0;               ///< writing JSON and compressing with zstd
  harness::StageTimes judging_times;      ///< stages of judging, in milliseconds; `build` is compile time
  std::uint64_t judged_kernel_count = 0;  ///< number of judged kernels; each device and mode counts as one

  Timing& operator+=(const Timing& other);
};

/// Numbers of rows that passed, according to their evidence.
struct PassedRows {
  std::map<std::string, std::uint64_t> by_device;  ///< rows that passed in at least one numeric mode: "cpu"
  std::map<std::string, std::uint64_t> by_mode;    ///< rows that passed in the numeric mode of the device: "cpu/strict"
};

/// Collects the statistics of a dataset row by row.
class DatasetStatistics {
 public:
  void add(const RowStatistics& statistics, std::string_view split);
  void add_rejected(const std::string& kind) { ++rejections_by_verdict_[kind]; }
  void add_duplicates(std::uint64_t count) { duplicate_row_count_ += count; }
  /// Adds a cluster of two or more rows.
  void add_cluster(std::uint64_t rows);

  [[nodiscard]] std::uint64_t rows() const { return row_count_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& families() const { return rows_by_family_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& splits() const { return rows_by_split_; }
  [[nodiscard]] const PassedRows& passed_rows() const { return passed_rows_; }

  /// Depends on the rows only: the same dataset gives the same text.
  [[nodiscard]] nlohmann::ordered_json to_json() const;

 private:
  std::uint64_t row_count_ = 0;                                            ///< number of rows
  std::map<std::string, std::uint64_t> rows_by_family_;                    ///< number of rows, by family
  std::map<std::string, std::uint64_t> rows_by_split_;                     ///< number of rows, by split
  std::array<TextLengthStatistics, std::size(kRowTextFields)> lengths_{};  ///< lengths of the texts, by text field
  std::map<std::string, std::uint64_t> operation_counts_;  ///< number of occurrences, by name of the operation
  std::map<std::string, std::map<std::string, std::uint64_t>>
      verdict_counts_by_case_;                                  ///< number of cases, by case and verdict
  PassedRows passed_rows_;                                      ///< numbers of rows that passed
  std::map<std::string, std::uint64_t> rejections_by_verdict_;  ///< number of rejected candidates, by verdict
  std::uint64_t duplicate_row_count_ = 0;        ///< number of rows replaced because they duplicated an earlier one
  std::uint64_t cluster_count_ = 0;              ///< number of clusters of at least two near duplicates
  std::uint64_t clustered_row_count_ = 0;        ///< number of rows in these clusters
  std::uint64_t largest_cluster_row_count_ = 0;  ///< number of rows in the largest cluster
  double rho_max_ = 0;                           ///< greatest rho over all rows
};

/// The `timing` member of stats.json, which differs from run to run.
nlohmann::ordered_json to_json(const Timing& timing, std::uint64_t rows);

}  // namespace assay::dataset
