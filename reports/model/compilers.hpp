// Compilers side by side: the cases of a run that judges each kernel in several builds, one column for each build and
// numeric mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

/// A column: the cases of one device in one build and numeric mode.
struct BuildColumn {
  std::string device;  ///< name of the device
  std::string mode;    ///< mode of the cases, which names the build: "strict@nvrtc-13.0.88-compute_100"
};

/// The number of cases of one family, or of all families, in one column, by result.
struct BuildCaseCounts {
  std::int64_t passed = 0;     ///< cases that passed
  std::int64_t incorrect = 0;  ///< cases with an incorrect result
  /// Cases in which the compiler or the code crashed, timed out, or accessed memory outside its arrays.
  std::int64_t crashed = 0;
  std::int64_t rejected = 0;  ///< cases whose source the compiler rejected
  /// Cases without a verdict on the build: inconclusive, unsupported, or not run.
  std::int64_t undecided = 0;
  /// Of the passed cases, those that execute more than kInstructionExcessRatio times the instructions of the build of
  /// the device with the fewest.
  std::int64_t passed_with_more_instructions = 0;
  double build_ms = 0;  ///< compile time in milliseconds, summed over the cases
  /// Instructions that the first launch of each case executes, summed over the threads and the cases.
  double instructions = 0;

  [[nodiscard]] std::int64_t total() const { return passed + incorrect + crashed + rejected + undecided; }
};

/// A row: the cases of a family in all columns.
struct BuildRow {
  std::string family;                  ///< family of the cases; "all" in the last row
  std::vector<BuildCaseCounts> cells;  ///< one for each column
};

/// A case that does not end in the same way in all columns.
struct BuildDifference {
  std::string name;                             ///< name of the case without its mode: "loop/horner/f32/ptx/backward"
  std::vector<std::string> outcomes_by_column;  ///< for each column: "pass", "fail(mismatch)"; empty: not planned there
  std::string culprit;  ///< component that the first examined failure is blamed on; empty if none was examined
  std::string message;  ///< message of the first column that does not pass
};

/// The cases of a run by family and build.
struct BuildMatrix {
  std::vector<BuildColumn> columns;          ///< in the order of the plan
  std::vector<BuildRow> rows;                ///< one for each family, then "all"
  std::vector<BuildDifference> differences;  ///< cases that do not end in the same way in all columns
};

/// A passing case is reported as longer if it executes more than this many times the instructions of the build with the
/// fewest.
inline constexpr double kInstructionExcessRatio = 1.1;

/// The matrix of a run with several builds; without columns if the run has only one.
BuildMatrix build_matrix(const Run& run);

/// The title of a column: "NVRTC 13.0.88 compute_100", "g++-12 -O2". Strict modes are not named.
std::string title_of(const BuildColumn& column);

/// The totals as a table with a row for each column of the matrix, because there can be more columns than a terminal is
/// wide; and the head of the table.
std::vector<std::vector<std::string>> total_rows(const BuildMatrix& matrix);
std::vector<std::string> total_head();
/// The columns in which the case does not pass: "NVRTC 13.0.88 compute_100: fail(mismatch); 3 pass".
std::string outcomes_text(const BuildMatrix& matrix, const BuildDifference& difference);

/// The matrix as text for the terminal, as a document, and as the members of the template page.html (null without
/// columns).
std::string build_table(const BuildMatrix& matrix, bool color);
nlohmann::json build_json(const BuildMatrix& matrix);
nlohmann::json build_view(const BuildMatrix& matrix);

}  // namespace assay::reports
