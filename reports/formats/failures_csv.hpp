// The cases that are not as expected, as a table (RFC 4180): case, outcome, kind, message.
#pragma once

#include <string>

#include "reports/run.hpp"

namespace assay::reports {

std::string failures_csv(const Run& run);

}  // namespace assay::reports
