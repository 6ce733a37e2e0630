// What the judge's records say of a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/dataset/render.hpp"
#include "harness/dataset/row.hpp"
#include "harness/records/record.hpp"

namespace assay::dataset {

/// Evidence of one judged case. `checks` are those that the device makes on memory beside the harness's own.
Evidence evidence_of(const harness::CaseRecord& record, const Rendered& kernel, std::span<const std::string> checks);

/// Evidence of a pass that was not judged on the device, and why.
Evidence not_run(std::string_view device, std::string_view pass, std::string reason);

/// Sorted as rows list it: by device, pass (forward first) and mode.
void sort(std::vector<Evidence>& evidence);

}  // namespace assay::dataset
