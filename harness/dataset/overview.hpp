// What a reader wants to see of a dataset before using it: how its rows are distributed, some of the rows, what was
// rejected and why, and near misses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/dataset/row.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// How many rows have each value of one measure. The values are in the order in which they should be shown.
struct RowCounts {
  std::string title;                                                 ///< what is counted: "Statements"
  std::string note;                                                  ///< an explanation, or empty
  std::vector<std::pair<std::string, std::uint64_t>> rows_by_value;  ///< the value as text, and its number of rows
};

/// The evidence of all rows for one device, pass and numeric mode.
struct EvidenceSummary {
  std::string device, pass, mode;                     ///< as in PassEvidence
  std::uint64_t verified_rows = 0;                    ///< rows with the verdict "pass"
  std::uint64_t other_rows = 0;                       ///< rows with another verdict, such as "not_run"
  std::uint64_t compared_values = 0, input_sets = 0;  ///< sums over all rows
  std::uint64_t rejected_controls = 0;                ///< sum over all rows
  double rho_max = 0;                                 ///< greatest error divided by its bound
};

/// A row that is shown.
struct SampleRow {
  std::string split;  ///< split of the row
  DatasetRow row;     ///< the row
};

/// The rejected kernels with one verdict.
struct RejectionGroup {
  std::string verdict;          ///< why they were rejected: "fail(mismatch)"
  std::uint64_t kernels = 0;    ///< number of kernels
  std::string example_name;     ///< name of the first of them
  std::string example_message;  ///< message of its verdict
  std::string example_source;   ///< Python source of the first of them
};

/// A near miss that is shown.
struct NearMissSample {
  std::string kernel_name, language, pass;  ///< as in the example of the export
  std::string mutation, change;             ///< name of the mutation, and what was changed
  std::string message;                      ///< the judge's message
  std::string correct_lines;                ///< the lines of the correct code that differ, with one line of context
  std::string incorrect_lines;              ///< the lines that replace them
};

/// The tolerance for which the overview counts how many near misses a comparison with a tolerance accepts.
inline constexpr double kCountedTolerance = 0.01;

/// The near misses of an export.
struct NearMissSummary {
  std::uint64_t pairs = 0;                   ///< number of preference pairs
  std::uint64_t pairs_within_tolerance = 0;  ///< pairs whose near miss is accepted with kCountedTolerance
  std::vector<std::pair<std::string, std::uint64_t>> pairs_by_mutation;  ///< by name, the most frequent first
  std::vector<NearMissSample> samples;                                   ///< one for each of the first mutations
};

/// The content of the page about a dataset.
struct DatasetOverview {
  std::string name;                        ///< name of the dataset's folder
  std::uint64_t row_count = 0;             ///< number of rows
  std::vector<std::string> licenses;       ///< licenses of the rows
  std::vector<std::string> emitters;       ///< code generators of the rows, with their versions
  std::vector<RowCounts> distributions;    ///< measures of the rows
  std::vector<EvidenceSummary> evidence;   ///< by device, pass and mode
  std::vector<SampleRow> samples;          ///< some rows, of as many families as possible
  std::vector<RejectionGroup> rejections;  ///< by verdict, the most frequent first
  NearMissSummary near_misses;             ///< empty if no export was given
};

/// What the overview is made of.
struct OverviewOptions {
  std::filesystem::path dataset;      ///< folder of a dataset, or file of rows
  std::filesystem::path near_misses;  ///< folder of `assay dataset export --format preference`, or empty
  std::size_t sample_count = 12;      ///< greatest number of rows that are shown
};

/// Reads the rows one after another and keeps at most `sample_count` rows of each family in memory. Fails if a file
/// cannot be read, if a line is not a valid row or preference pair, or if the dataset is empty.
Result<DatasetOverview> overview_of(const OverviewOptions& options);

}  // namespace assay::dataset
