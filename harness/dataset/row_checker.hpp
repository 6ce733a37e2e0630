// Checks one line of a dataset: syntax, schema, and that everything in it follows from its Python source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/dataset/emitter.hpp"
#include "harness/dataset/finding.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/row.hpp"
#include "harness/dataset/row_memory.hpp"
#include "harness/dataset/row_ptx.hpp"
#include "harness/dataset/similarity.hpp"
#include "harness/dataset/stats.hpp"
#include "harness/suite/run/run.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {

/// Warp code in a row that must be compared with the code that Warp generates from the row's Python.
struct WarpCodeInRow {
  DatasetRow row;                      ///< a row with only the texts to compare
  warp::GeneratedCodeRequest request;  ///< requests the same texts from Warp
  bool has_gradients = false;          ///< whether the row has backward functions
};

/// The data of a valid row that later checks need.
struct CheckedRow {
  std::string id;                         ///< id of the row
  std::string kernel_name;                ///< name of the kernel
  std::string python_source;              ///< source text of the kernel
  std::string input_seed;                 ///< seed of the inputs that the kernel was judged on
  std::string judging_effort;             ///< how thoroughly it was judged
  std::vector<PassEvidence> evidence;     ///< the evidence in the row
  std::vector<DeviceCompiler> toolchain;  ///< the compilers of the devices that verified the row
  RowPtxSummary ptx;                      ///< what the row's PTX states
  std::string emitter;                    ///< code generator of the row
  std::string emitter_version;            ///< version of the emitter
  bool has_description = true;            ///< whether the row's version of the schema has descriptions
  bool has_current_schema = true;         ///< whether the row's version of the schema is kDatasetRowSchemaVersion
  /// Warp's code in the row; nullopt unless the emitter is "warp" and the Python source can be parsed.
  std::optional<WarpCodeInRow> warp_code;
  RowStatistics statistics;  ///< statistics, whose texts are in the memory of the checker
  ShingleView shingles;      ///< the row's shingles, for finding near duplicates; in the memory of the checker
};

/// Checks rows. Not thread-safe; use one per thread.
class RowChecker {
 public:
  explicit RowChecker(harness::PairPrinter printer);

  /// From now on, the metadata of rows must be those of the plan, which must outlive the checker.
  void expect(const DatasetPlan& plan) { plan_ = &plan; }
  /// Appends problems to `diagnostics`, without file and line. Returns nothing if the row cannot be read.
  std::optional<CheckedRow> check(const std::string& line, std::vector<RowError>& diagnostics);
  /// Compares the code in a row with what Warp generated.
  static void compare_warp_code(const std::string& id, const WarpCodeInRow& code,
                                const warp::GeneratedSources& generated, std::vector<RowError>& diagnostics);
  /// Checks an object in the older layout.
  void check_older(const std::string& text, std::vector<RowError>& diagnostics) const;

 private:
  void check_program(const DatasetRow& row, CheckedRow& checked, std::vector<RowError>& diagnostics);
  [[nodiscard]] std::optional<live::KernelOrigin> planned_origin(const DatasetRow& row) const;

  const DatasetPlan* plan_ = nullptr;  ///< see expect(); null: any metadata
  harness::PairPrinter printer_;       ///< prints the sources that the row is compared with
  schemas::Validator schema_;          ///< schema of a dataset row
  RowArena statistics_arena_;          ///< owns the statistics and shingles of the checked rows
};

}  // namespace assay::dataset
