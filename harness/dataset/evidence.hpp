// Evidence of a row from the judge's records.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/dataset/render.hpp"
#include "harness/dataset/row.hpp"
#include "harness/records/record.hpp"

namespace assay::dataset {

/// Evidence of one judged case. `checks` are the device's memory checks in addition to those of the harness.
PassEvidence make_evidence(const harness::CaseRecord& record, const RenderedKernel& kernel,
                           std::span<const std::string> checks);

/// Evidence of a pass that was not judged on the device, with the reason.
PassEvidence not_run(std::string_view device, std::string_view pass, std::string reason);

/// Sorts in the order of rows: by device, pass (forward first) and mode.
void sort(std::vector<PassEvidence>& evidence);

}  // namespace assay::dataset
