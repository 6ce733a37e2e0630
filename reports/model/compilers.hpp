// Compilers side by side: the cases of a run that judges each kernel in several builds, one column for each build and
// numeric mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace assay::reports {

struct BuildColumn {
  std::string device;  ///< name of the device
  std::string mode;    ///< mode of the cases, which names the build: "strict@nvrtc-13.0.88-compute_100"
};

/// The cases of a family in one column, or of all families.
struct BuildCaseCounts {
  std::int64_t passed = 0;     ///< verified
  std::int64_t incorrect = 0;  ///< a result is incorrect
  std::int64_t crashed = 0;   ///< the compiler or the code crashed, timed out, or accessed memory outside of its arrays
  std::int64_t rejected = 0;  ///< the compiler rejected the source
  std::int64_t undecided = 0;  ///< without a verdict about the build: inconclusive, unsupported, not run
  /// Of the passed cases, those that execute at least kInstructionExcessRatio times the instructions of the shortest
  /// column of the device.
  std::int64_t passed_with_more_instructions = 0;
  double build_ms = 0;      ///< time of compiling
  double instructions = 0;  ///< executed instructions of the first launch of each case, summed over the threads

  [[nodiscard]] std::int64_t total() const { return passed + incorrect + crashed + rejected + undecided; }
};

struct BuildRow {
  std::string family;                  ///< family of the cases; "all" in the last row
  std::vector<BuildCaseCounts> cells;  ///< one for each column
};

/// A case that does not end in the same way in all columns.
struct BuildDifference {
  std::string name;                             ///< name of the case without its mode: "loop/horner/f32/ptx/backward"
  std::vector<std::string> outcomes_by_column;  ///< for each column: "pass", "fail(mismatch)"; empty: not planned there
  std::string culprit;                          ///< culprit of the first failure that was examined; may be empty
  std::string message;                          ///< message of the first column that does not pass
};

struct BuildMatrix {
  std::vector<BuildColumn> columns;  ///< in the order of the plan
  std::vector<BuildRow> rows;        ///< one for each family, then "all"
  std::vector<BuildDifference> differences;
};

/// A passing case is longer if it executes at least this many times the instructions of the shortest column.
inline constexpr double kInstructionExcessRatio = 1.1;

/// The matrix of a run with several builds; without columns if the run has only one.
BuildMatrix build_matrix(const Run& run);

/// "NVRTC 13.0.88 compute_100", "g++-12 -O2" of a column; strict modes are not named.
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
