// Checks that the evidence of a row is complete and supports its verdicts.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/dataset/finding.hpp"
#include "harness/dataset/row.hpp"

namespace assay::dataset {

/// The checks of evidence that depend on the version of the row's schema.
enum class EvidenceForm : std::uint8_t {
  kOlder,       ///< schema 1.2 and older: the evidence does not list its checks
  kWithChecks,  ///< schema 1.3 and later
};

/// Appends an error for each entry that contradicts itself, for example a verdict `pass` without input sets, and for
/// each pass and device that the evidence leaves out. The errors name the row, but neither file nor line.
void check_evidence(const DatasetRow& row, EvidenceForm form, std::vector<RowError>& diagnostics);

}  // namespace assay::dataset
