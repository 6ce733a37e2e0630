// Checks one line of a dataset: syntax, schema, and that everything in it follows from its Python source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/dataset/finding.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/row.hpp"
#include "harness/dataset/row_memory.hpp"
#include "harness/dataset/similarity.hpp"
#include "harness/dataset/stats.hpp"
#include "harness/suite/run/run.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {

/// The data of a valid row that later checks need.
struct CheckedRow {
  std::string id;
  std::string name;
  std::string python;
  std::string seed;
  std::string effort;
  std::vector<Evidence> evidence;
  std::vector<DeviceCompiler> toolchain;
  RowFacts facts;  ///< in the memory of the checker, like the shingles
  ShingleView shingles;
};

/// Checks rows. Not thread-safe; use one per thread.
class RowChecker {
 public:
  explicit RowChecker(harness::PairPrinter printer);

  /// Appends problems to `diagnostics`, without file and line. Returns nothing if the row cannot be read.
  std::optional<CheckedRow> check(const std::string& line, std::vector<RowError>& diagnostics);
  /// Checks an object in the older layout.
  void check_older(const std::string& text, std::vector<RowError>& diagnostics) const;

 private:
  void check_program(const Row& row, CheckedRow& checked, std::vector<RowError>& diagnostics);

  harness::PairPrinter printer_;
  schemas::Validator schema_;
  RowMemory row_memory_;
};

}  // namespace assay::dataset
