// The file of expected failures: a CSV table with a header, one expectation per line.
//
//   case,outcome,kind,message,reason,issue,since,expires
//   atomic/*/f64/cuda,fail,mismatch,grad_* is *,ties of minima,#17,2026-11-21,2027-01-31
//
// Columns may be in any order; case, outcome and message are required. A run's failures.csv is a valid expectations
// file.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Fails with the file and line on an unknown column, a row of another length, an empty pattern, an invalid date, and
/// an outcome that cannot be expected (pass, unsupported, not_run and internal_error).
Result<std::vector<Expectation>> read_expectations(const std::filesystem::path& file);

}  // namespace assay::harness
