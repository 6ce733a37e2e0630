// Judges one line of a dataset by itself: form, schema, and that everything in it follows from its Python.
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

/// What of a row later checks ask, where the row could be read.
struct Checked {
  std::string id;
  std::string name;
  std::string python;
  std::string seed;
  std::string effort;
  std::vector<Evidence> evidence;
  std::vector<Tool> toolchain;
  Facts facts;  ///< in the checker's memory, as the shingles
  ShingleView shingles;
};

/// One per thread.
class RowChecker {
 public:
  explicit RowChecker(harness::PairPrinter printer);

  /// `complaints` gains what is wrong, without file and line. Nothing comes back for a row that cannot be read.
  std::optional<Checked> check(const std::string& line, std::vector<RowError>& diagnostics);
  /// The same of an object in the older layout; only messages come of it.
  void check_older(const std::string& text, std::vector<RowError>& diagnostics) const;

 private:
  void check_program(const Row& row, Checked& checked, std::vector<RowError>& diagnostics);

  harness::PairPrinter printer_;
  schemas::Validator schema_;
  RowMemory memory_;
};

}  // namespace assay::dataset
