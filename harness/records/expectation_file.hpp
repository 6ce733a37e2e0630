// The file of failures that are known: a table (CSV) with a head, one expectation a line.
//
//   case,outcome,kind,message,reason,issue,since,expires
//   atomic/*/f64/cuda,fail,mismatch,grad_* is *,ties of minima,#17,2026-11-21,2027-01-31
//
// Columns may stand in any order; case, outcome and message must be there. So a run's failures.csv is such a file.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Fails with the file and line on an unknown column, a line of another length, an outcome that cannot be expected
/// (passes and unsupported cases need no line; for a case that was not run and for an internal error there is no
/// excuse), an empty pattern and a day that is none.
Result<std::vector<Expectation>> read_expectations(const std::filesystem::path& file);

}  // namespace assay::harness
